// The queries about rows, in the menu of a row and in the menu of the selected rows.
import { Button, Menu, Portal } from "@chakra-ui/react";

import type { Way } from "../state";

const ASKS: { way: Way; text: string; key?: string }[] = [
  { way: "backward", text: "← Source rows", key: "Enter" },
  { way: "forward", text: "Derived rows →", key: "Shift+Enter" },
  { way: "co_contributory", text: "Rows used together with it (co-contributory)" },
  { way: "co_dependency", text: "Rows that share a source row (co-dependency)" },
  { way: "composition", text: "Composition of the source rows" },
  { way: "happened", text: "What happened to it" },
];

function Items({ only, many, onAsk }: { only?: Way[]; many: boolean; onAsk: (way: Way) => void }) {
  return (
    <Portal>
      <Menu.Positioner>
        <Menu.Content minW="16rem">
          {ASKS.filter((ask) => !only || only.includes(ask.way)).map(({ way, text, key }) => (
            <Menu.Item
              key={way}
              onClick={() => {
                onAsk(way);
              }}
              value={way}
            >
              {many ? text.replaceAll(/\bit\b/g, "them") : text}
              {key && !only ? <Menu.ItemCommand>{key}</Menu.ItemCommand> : null}
            </Menu.Item>
          ))}
        </Menu.Content>
      </Menu.Positioner>
    </Portal>
  );
}

export type Anchor = { row: number; rect: { x: number; y: number; width: number; height: number } };

// The menu of a row, shown at that row; a table has one.
export function RowMenu({
  at,
  onAsk,
  onClose,
}: {
  at: Anchor | null;
  onAsk: (row: number, way: Way) => void;
  onClose: () => void;
}) {
  return (
    <Menu.Root
      aria-label={at ? `Queries about row ${at.row}` : undefined}
      onOpenChange={({ open }) => {
        if (!open) onClose();
      }}
      open={at !== null}
      positioning={{ getAnchorRect: () => at?.rect ?? null, placement: "bottom-start" }}
    >
      <Items
        many={false}
        onAsk={(way) => {
          if (at) onAsk(at.row, way);
        }}
      />
    </Menu.Root>
  );
}

export function MoreAsks({ disabled, many, onAsk }: { disabled: boolean; many: boolean; onAsk: (way: Way) => void }) {
  return (
    <Menu.Root positioning={{ placement: "bottom-end" }}>
      <Menu.Trigger asChild>
        <Button disabled={disabled} size="xs" variant="outline">
          More ▾
        </Button>
      </Menu.Trigger>
      <Items many={many} onAsk={onAsk} only={["co_contributory", "co_dependency", "composition", "happened"]} />
    </Menu.Root>
  );
}
