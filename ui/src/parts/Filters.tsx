// Filters on columns: a form that adds a condition, and a tag for each condition that removes it.
import { Button, HStack, Input, NativeSelect, Tag } from "@chakra-ui/react";
import { useState } from "react";

import type { Column } from "../api/client";
import { condition, OPERATORS, takesValue, type Operator } from "../conditions";

export function Filters({
  columns,
  where,
  onChange,
}: {
  columns: Column[];
  where: string[];
  onChange: (where: string[]) => void;
}) {
  const open = columns.filter((c) => !c.masked);
  const [column, setColumn] = useState("");
  const [operator, setOperator] = useState<Operator>("=");
  const [value, setValue] = useState("");
  const chosen = open.some((c) => c.name === column) ? column : (open[0]?.name ?? "");
  const ready = chosen !== "" && (!takesValue(operator) || value !== "");
  const add = () => {
    if (!ready) return;
    const text = condition(chosen, operator, value);
    if (!where.includes(text)) onChange([...where, text]);
    setValue("");
  };
  return (
    <HStack
      as="form"
      aria-label="Filter rows"
      flexWrap="wrap"
      gap={2}
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <NativeSelect.Root disabled={!open.length} size="xs" w="10rem">
        <NativeSelect.Field
          aria-label="Column"
          onChange={(event) => {
            setColumn(event.target.value);
          }}
          value={chosen}
        >
          {open.map((c) => (
            <option key={c.name} value={c.name}>
              {c.name}
            </option>
          ))}
        </NativeSelect.Field>
        <NativeSelect.Indicator />
      </NativeSelect.Root>
      <NativeSelect.Root size="xs" w="7.5rem">
        <NativeSelect.Field
          aria-label="Operator"
          onChange={(event) => {
            setOperator(event.target.value as Operator);
          }}
          value={operator}
        >
          {OPERATORS.map((o) => (
            <option key={o} value={o}>
              {o}
            </option>
          ))}
        </NativeSelect.Field>
        <NativeSelect.Indicator />
      </NativeSelect.Root>
      {takesValue(operator) ? (
        <Input
          aria-label="Value"
          onChange={(event) => {
            setValue(event.target.value);
          }}
          placeholder={operator === "in" ? "a, b, c" : "value"}
          size="xs"
          value={value}
          w="10rem"
        />
      ) : null}
      <Button disabled={!ready} size="xs" type="submit" variant="outline">
        Filter
      </Button>
      {where.map((text) => (
        <Tag.Root colorPalette="blue" key={text} maxW="20rem" size="md">
          <Tag.Label>{text}</Tag.Label>
          <Tag.EndElement>
            <Tag.CloseTrigger
              aria-label={`Remove ${text}`}
              onClick={() => {
                onChange(where.filter((w) => w !== text));
              }}
            />
          </Tag.EndElement>
        </Tag.Root>
      ))}
    </HStack>
  );
}
