// Small marks that mean the same everywhere: how far a write was captured, what a data set is.
import { Badge } from "@chakra-ui/react";

const COVERAGE: Record<string, { palette: string; text: string; why: string }> = {
  exact: { palette: "green", text: "exact", why: "captured row by row" },
  coarse: {
    palette: "orange",
    text: "coarse",
    why: "captured as a whole: all its output rows stand for all its input rows",
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
