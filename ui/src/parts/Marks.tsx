// Badges for the coverage of a write and the type of a dataset.
import { Badge } from "@chakra-ui/react";

const COVERAGE: Record<string, { palette: string; text: string; why: string }> = {
  exact: { palette: "green", text: "exact", why: "captured row by row" },
  coarse: {
    palette: "orange",
    text: "coarse",
    why: "captured as a whole: each output row counts as made from all input rows",
  },
  untracked: { palette: "red", text: "untracked", why: "not captured" },
};

export function Coverage({ value }: { value: string | null }) {
  const found = value ? COVERAGE[value] : undefined;
  return found ? (
    <Badge
      colorPalette={found.palette}
      size="sm"
      title={found.why}
      variant={value === "untracked" ? "outline" : "subtle"}
    >
      {found.text}
    </Badge>
  ) : null;
}

export function Role({ value }: { value: string }) {
  return (
    <Badge colorPalette={value === "source" ? "purple" : "blue"} size="sm" variant="subtle">
      {value}
    </Badge>
  );
}
