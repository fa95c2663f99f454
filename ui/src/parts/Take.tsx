// The export menu: files, a command, Python code.
import { Button, Menu, Portal } from "@chakra-ui/react";
import { useState } from "react";

import { asCommand, asPython, type Names } from "../copy";
import type { State } from "../state";

export type Item = { label: string; act: () => void | Promise<void> };

export function Take({ items }: { items: Item[] }) {
  const [said, say] = useState("");
  const run = async (item: Item) => {
    try {
      await item.act();
      say(item.label.startsWith("Copy") ? "Copied" : "");
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
    setTimeout(() => {
      say("");
    }, 4000);
  };
  return (
    <Menu.Root positioning={{ placement: "bottom-end" }}>
      <Menu.Trigger asChild>
        <Button aria-live="polite" size="xs" variant="outline">
          {said || "Export ▾"}
        </Button>
      </Menu.Trigger>
      <Portal>
        <Menu.Positioner>
          <Menu.Content>
            {items.map((item) => (
              <Menu.Item key={item.label} onClick={() => void run(item)} value={item.label}>
                {item.label}
              </Menu.Item>
            ))}
          </Menu.Content>
        </Menu.Positioner>
      </Portal>
    </Menu.Root>
  );
}

export function copyItems(state: State, names: Names): Item[] {
  return [
    { label: "Copy as Python", act: () => copyText(asPython(state, names)) },
    { label: "Copy as command", act: () => copyText(asCommand(state, names)) },
  ];
}

export function save(content: Blob | string, name: string): void {
  const link = document.createElement("a");
  link.href = typeof content === "string" ? content : URL.createObjectURL(content);
  link.download = name;
  link.click();
  if (typeof content !== "string")
    setTimeout(() => {
      URL.revokeObjectURL(link.href);
    }, 10_000);
}

export async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}
