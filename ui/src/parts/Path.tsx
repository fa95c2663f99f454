// Breadcrumbs from the list of datasets to the current view.
import { Breadcrumb, Button } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";

import { get, type DatasetDetail } from "../api/client";
import { writeRows } from "../rowset";
import { usePage, type Place } from "../state";

export function Path({ root }: { root: string }) {
  const { state, open, go, quit } = usePage();
  const back = (i: number) => {
    const place = state.via[i];
    if (place) go({ ...place, via: state.via.slice(0, i), step: null });
  };
  return (
    <Breadcrumb.Root aria-label="Path" minW={0} size="sm">
      <Breadcrumb.List flexWrap="nowrap">
        <Breadcrumb.Item>
          {state.dataset ? (
            <Crumb
              onClick={() => {
                open({});
              }}
            >
              {root}
            </Crumb>
          ) : (
            <Breadcrumb.CurrentLink>{root}</Breadcrumb.CurrentLink>
          )}
        </Breadcrumb.Item>
        {state.via.map((place, i) => (
          <Fragment key={i}>
            <Breadcrumb.Separator />
            <Breadcrumb.Item>
              <Crumb
                onClick={() => {
                  back(i);
                }}
              >
                <Label place={place} />
              </Crumb>
            </Breadcrumb.Item>
          </Fragment>
        ))}
        {state.dataset ? (
          <>
            <Breadcrumb.Separator />
            <Breadcrumb.Item>
              {state.way ? (
                <Crumb onClick={quit}>
                  <Label place={{ ...state, rows: [], where: [], way: null }} />
                </Crumb>
              ) : (
                <Breadcrumb.CurrentLink>
                  <Label place={{ ...state, rows: [], way: null }} />
                </Breadcrumb.CurrentLink>
              )}
            </Breadcrumb.Item>
          </>
        ) : null}
        {state.dataset && state.way ? (
          <>
            <Breadcrumb.Separator />
            <Breadcrumb.Item>
              <Breadcrumb.CurrentLink whiteSpace="nowrap">
                {chosen(state)}
                {said(state)}
              </Breadcrumb.CurrentLink>
            </Breadcrumb.Item>
          </>
        ) : null}
      </Breadcrumb.List>
    </Breadcrumb.Root>
  );
}

function Crumb({ children, onClick }: { children: React.ReactNode; onClick: () => void }) {
  return (
    <Button
      h="auto"
      maxW="16rem"
      minW={0}
      onClick={onClick}
      overflow="hidden"
      p={0}
      size="sm"
      textOverflow="ellipsis"
      variant="plain"
      color="fg.muted"
      fontWeight="normal"
      _hover={{ color: "fg", textDecoration: "underline" }}
    >
      {children}
    </Button>
  );
}

function Label({ place }: { place: Place }) {
  const { data } = useQuery({
    queryKey: ["dataset", place.dataset, place.version],
    queryFn: ({ signal }) => get<DatasetDetail>(`/datasets/${place.dataset}`, { version: place.version }, signal),
  });
  const rows = place.rows.length || place.where.length ? ` · ${chosen(place)}${said(place)}` : "";
  return <>{`${data?.label ?? "…"}${rows}`}</>;
}

const SAID = {
  backward: " ←",
  forward: " →",
  co_contributory: " · used together",
  co_dependency: " · co-dependency",
  composition: " · composition",
  happened: " · what happened",
};

function said(place: Place): string {
  return place.way ? SAID[place.way] : "";
}

function chosen(place: Place): string {
  if (place.rows.length) {
    const text = writeRows(place.rows);
    return `${place.rows.length === 1 ? "row" : "rows"} ${text.length > 24 ? `${text.slice(0, 22)}…` : text}`;
  }
  return place.where.length ? place.where.join(" and ") : "all rows";
}
