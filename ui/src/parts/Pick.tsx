// A select field with a label that continues a sentence.
import { HStack, NativeSelect, Text } from "@chakra-ui/react";

export type Option = { value: string; label: string; title: string };

export function Pick({
  label,
  name,
  options,
  value,
  onPick,
}: {
  label: string;
  name: string;
  options: Option[];
  value: string;
  onPick: (value: string) => void;
}) {
  return (
    <HStack gap={2}>
      <Text color="fg.muted" fontSize="sm" whiteSpace="nowrap">
        {label}
      </Text>
      <NativeSelect.Root size="xs" w="auto">
        <NativeSelect.Field
          aria-label={name}
          maxW="16rem"
          onChange={(event) => {
            onPick(event.target.value);
          }}
          value={value}
        >
          {options.map((o) => (
            <option key={o.value} title={o.title} value={o.value}>
              {o.label}
            </option>
          ))}
        </NativeSelect.Field>
        <NativeSelect.Indicator />
      </NativeSelect.Root>
    </HStack>
  );
}
