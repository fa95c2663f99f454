import { describe, expect, it } from "vitest";

import { condition } from "./conditions";
import { asCommand, asPython } from "./copy";
import { readRows, writeRows } from "./rowset";
import { read, write, type State } from "./state";
import { cell, count, made, share } from "./words";

const STATE: State = {
  search: "a b",
  dataset: "0123456789abcdef",
  version: "0".repeat(32),
  rows: [1, 2, 3, 9],
  where: ["name = 'it''s'"],
  way: "forward",
  to: "fedcba9876543210",
  through: "0123456789abcdef",
  column: "a&b",
  all: true,
  example: 17,
  context: true,
  gone: true,
  at: "fedcba9876543210",
  step: "clean-1",
  tab: "profile",
  via: [
    {
      dataset: "00",
      version: null,
      rows: [5],
      where: ["a = '&'"],
      way: "co_dependency",
      to: "11",
      through: null,
      column: null,
      at: "22",
      all: true,
      example: 5,
    },
  ],
};

describe("the URL", () => {
  it("holds the whole state", () => {
    expect(read(new URLSearchParams(write(STATE).toString()))).toEqual(STATE);
  });
  it("of older links is read: all rows were marked, and no example", () => {
    const via = '["00",null,"5",[],"backward",null,null,null,"22",1]';
    const state = read(new URLSearchParams({ ds: "00", rows: "1-3", trace: "backward", all: "1", via }));
    expect([state.all, state.example]).toEqual([true, null]);
    expect(state.via.map((place) => [place.rows, place.all, place.example])).toEqual([[[5], true, null]]);
  });
  it("of links of the last release is read: the questions had other names", () => {
    const via = '["00",null,"5",[],"together",null,null,null,"22",1,null]';
    const state = read(new URLSearchParams({ ds: "00", trace: "siblings", via }));
    expect([state.way, state.via[0]?.way]).toEqual(["co_dependency", "co_contributory"]);
    expect(read(new URLSearchParams({ trace: "constructor" })).way).toBeNull();
  });
  it("names an example only by a row id", () => {
    for (const example of ["", "-1", "1.5", "x", "99999999999999999999"])
      expect(read(new URLSearchParams({ example })).example).toBeNull();
    expect(read(new URLSearchParams({ example: "0" })).example).toBe(0);
  });
  it("survives anything", () => {
    for (const via of ["", "{", "[]", "[1,2,3]", "null", '["a",1,"2",["x",5],"beside"]']) {
      const state = read(new URLSearchParams({ via, rows: "x,-1,9-7,1-99999999", trace: "beside" }));
      expect(state.way).toBeNull();
      expect(state.rows.length).toBe(10_000);
    }
  });
});

describe("rows", () => {
  it("are written as runs and read back", () => {
    expect(writeRows([9, 1, 2, 3])).toBe("1-3,9");
    expect(readRows("1-3,9")).toEqual([1, 2, 3, 9]);
    expect(writeRows([])).toBe("");
  });
});

describe("conditions", () => {
  it("quote what needs it", () => {
    expect(condition("age", ">=", "40")).toBe("age >= 40");
    expect(condition("a`b", "=", "it's")).toBe("`a``b` = 'it''s'");
    expect(condition("state", "in", "Ohio, New York")).toBe("state in (Ohio, 'New York')");
    expect(condition("x", "is not null", "ignored")).toBe("x is not null");
  });
});

describe("words", () => {
  it("say how many of how many", () => {
    expect(share(1, 214)).toBe("1 of 214");
    expect(share(0, 32561)).toBe("no row of 32,561");
    expect(count(1)).toBe("1 row");
    expect(cell({ a: [1] })).toBe('{"a":[1]}');
  });
});

describe("writes", () => {
  it("tell their own rows from all", () => {
    expect(made(12058, 3048)).toBe("3,048 rows written · 12,058 in the dataset");
    expect(made(9, 0)).toBe("0 rows written · 9 in the dataset");
    expect(made(1, 1)).toBe("1 row written");
    expect(made(12058, null)).toBe("12,058 rows in the dataset");
  });
});

describe("copies", () => {
  it("are a command and Python", () => {
    const where = { ...STATE, rows: [], context: false, version: null };
    expect(asCommand(where, { dataset: "/data/a b" })).toBe(
      "provspark trace '/data/a b' --where 'name = '\\''it'\\'''\\''s'\\''' --forward",
    );
    expect(asPython(STATE, { dataset: "/d" })).toContain('prov.forward("/d", rows=[1, 2, 3, 9], version=');
  });
  it("name the other dataset of a query", () => {
    const aside = { ...STATE, way: "co_dependency" as const, rows: [7], where: [], context: false, version: null };
    const names = { dataset: "/d", to: "/t", through: "/v" };
    expect(asCommand(aside, names)).toBe("provspark co-dependency /d --row 7 --to /t --via /v");
    expect(asPython({ ...aside, way: "composition", column: "sex" }, { dataset: "/d", to: "/t" })).toContain(
      'prov.composition("/d", rows=[7], source="/t", column="sex", each=False)',
    );
  });
});
