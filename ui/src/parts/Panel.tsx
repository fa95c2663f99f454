// A panel beside the graph or the table: a framed column that scrolls.
import { Flex } from "@chakra-ui/react";
import type { ReactNode, Ref } from "react";

type Props = { label: string; children: ReactNode; ref?: Ref<HTMLDivElement> };

export function Panel({ label, children, ref }: Props) {
  return (
    <Flex
      aria-label={label}
      as="aside"
      ref={ref}
      borderColor="border"
      borderRadius="md"
      borderWidth={1}
      direction="column"
      gap={3}
      h="full"
      minH={0}
      overflow="auto"
      p={4}
      tabIndex={0}
    >
      {children}
    </Flex>
  );
}
