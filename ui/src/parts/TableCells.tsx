// The cells of a RowsTable: column headers, row headers with their buttons, and values; and the widths of columns.
import { Box, Button, HStack, IconButton, Skeleton, Text } from "@chakra-ui/react";
import { memo } from "react";

import type { Column } from "../api/client";
import type { Way } from "../state";
import { cell, number } from "../words";
import { ROW } from "./useRowWindow";

// Width of the row headers.
export const FIRST = 148;

type HeadProps = {
  name: string;
  type?: string;
  at: number;
  size: number;
  index?: number;
  masked?: boolean;
  pinned?: boolean;
  right?: boolean;
  onOpen?: () => void;
  openTitle?: string;
};

export function Head({ name, type, at, size, index = 1, masked, pinned, right, onOpen, openTitle }: HeadProps) {
  return (
    <Box
      aria-colindex={index}
      bg="bg.subtle"
      borderColor="border"
      borderRightWidth={pinned ? 1 : 0}
      display="inline-flex"
      flexDirection="column"
      h="full"
      justifyContent="center"
      left={pinned ? 0 : `${at}px`}
      overflow="hidden"
      position={pinned ? "sticky" : "absolute"}
      px={2}
      role="columnheader"
      textAlign={right ? "end" : "start"}
      title={type ? `${name}: ${type}` : undefined}
      verticalAlign="top"
      w={`${size}px`}
      zIndex={pinned ? 1 : 0}
    >
      {onOpen ? (
        <Button
          color="fg"
          display="block"
          fontSize="sm"
          fontWeight="semibold"
          h="auto"
          lineHeight="short"
          minW={0}
          onClick={onOpen}
          overflow="hidden"
          p={0}
          textAlign={right ? "end" : "start"}
          textOverflow="ellipsis"
          title={openTitle}
          variant="plain"
          w="full"
          _hover={{ textDecoration: "underline" }}
        >
          {name}
        </Button>
      ) : (
        <Text fontWeight="semibold" lineHeight="short" truncate>
          {name}
        </Text>
      )}
      {type ? (
        <Text color="fg.muted" fontFamily="mono" fontSize="2xs" lineHeight="short" truncate>
          {masked ? "masked" : type}
        </Text>
      ) : null}
    </Box>
  );
}

type RowHeadProps = {
  row: number | undefined;
  chosen: boolean;
  active: boolean;
  pickable: boolean;
  bg: string;
  onTrace: (row: number, way: Way) => void;
  onAsk: (row: number, at: DOMRect) => void;
};

export function RowHead({ row, chosen, active, pickable, bg, onTrace, onAsk }: RowHeadProps) {
  return (
    <HStack
      bg={bg}
      borderColor="border"
      borderRightWidth={1}
      gap={1}
      h="full"
      left={0}
      position="sticky"
      px={2}
      role="rowheader"
      w={`${FIRST}px`}
      zIndex={1}
      display="inline-flex"
      verticalAlign="top"
    >
      {pickable ? (
        <Box
          aria-hidden
          bg={chosen ? "blue.solid" : "bg"}
          borderColor={chosen ? "blue.solid" : "border.emphasized"}
          borderRadius="sm"
          borderWidth={1}
          boxSize={3.5}
          color="white"
          flexShrink={0}
          fontSize="10px"
          lineHeight="12px"
          textAlign="center"
        >
          {chosen ? "✓" : ""}
        </Box>
      ) : null}
      <Text color="fg.muted" flex={1} fontVariantNumeric="tabular-nums" pl={1} truncate>
        {row === undefined ? "…" : number(row)}
      </Text>
      {row === undefined ? null : (
        <HStack gap={0} opacity={active ? 1 : 0} _groupHover={{ opacity: 1 }}>
          <Act
            label={`Source rows of row ${row}`}
            onAct={() => {
              onTrace(row, "backward");
            }}
          >
            ←
          </Act>
          <Act
            label={`Rows derived from row ${row}`}
            onAct={() => {
              onTrace(row, "forward");
            }}
          >
            →
          </Act>
          <Act
            label={`More queries about row ${row}`}
            onAct={(button) => {
              onAsk(row, button.getBoundingClientRect());
            }}
          >
            ⋯
          </Act>
        </HStack>
      )}
    </HStack>
  );
}

function Act({ label, children, onAct }: { label: string; children: string; onAct: (button: Element) => void }) {
  return (
    <IconButton
      aria-label={label}
      h={5}
      minW={5}
      onClick={(event) => {
        event.stopPropagation();
        onAct(event.currentTarget);
      }}
      size="2xs"
      tabIndex={-1}
      title={label}
      variant="ghost"
    >
      {children}
    </IconButton>
  );
}

export const Value = memo(function Value({
  value,
  at,
  size,
  index,
  right,
  masked,
}: {
  value: unknown;
  at: number;
  size: number;
  index: number;
  right: boolean;
  masked: boolean;
}) {
  const text = masked ? "•••" : cell(value);
  return (
    <Box
      aria-colindex={index}
      h="full"
      left={`${at}px`}
      lineHeight={`${ROW}px`}
      position="absolute"
      px={2}
      role="gridcell"
      textAlign={right ? "end" : "start"}
      title={value === undefined || text.length < 12 ? undefined : text.slice(0, 2000)}
      top={0}
      truncate
      w={`${size}px`}
      color={masked || value === null ? "fg.muted" : "fg"}
      fontStyle={value === null && !masked ? "italic" : undefined}
      fontVariantNumeric="tabular-nums"
    >
      {value === undefined ? <Skeleton display="inline-block" h={3} w="60%" /> : text.slice(0, 500)}
    </Box>
  );
});

export function numeric(column: Column | undefined): boolean {
  return /^(tinyint|smallint|int|bigint|float|double|decimal)/.test(column?.type ?? "");
}

export function width(column: Column | undefined): number {
  const name = (column?.name.length ?? 8) * 8 + 24;
  const usual = numeric(column) ? 88 : /^(boolean|date)$/.test(column?.type ?? "") ? 100 : 168;
  return Math.min(280, Math.max(name, usual));
}
