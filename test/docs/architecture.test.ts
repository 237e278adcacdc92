// docs/ARCHITECTURE.md against the imports of src: its picture and its rooms.
import { expect, test } from "vitest";
import { arrows, floorsOf, rooms } from "./architecture.js";
import { namedRows, textOf } from "./repository.js";

const page = textOf("docs/ARCHITECTURE.md");
const floors = floorsOf(page);
const order = floors.flat();

/** Counted from the top. */
const floorOf = (room: string) => floors.findIndex((floor) => floor.includes(room));

test("the picture has every room of src once", () => {
  expect(order.toSorted()).toEqual(rooms.toSorted());
});

test("no import leads to a higher floor", () => {
  expect(arrows.length).toBeGreaterThan(500);
  const upward = arrows.filter(({ from, to }) => floorOf(to) < floorOf(from));
  expect(upward.map(({ from, to, path }) => `${from} → ${to}: ${path}`)).toEqual([]);
});

test("each floor stands on the next one", () => {
  const stands = (floor: number) =>
    arrows.some(({ from, to }) => floorOf(from) === floor && floorOf(to) === floor + 1);
  expect(floors.map((_, floor) => floor).filter((floor) => !stands(floor))).toEqual([
    floors.length - 1,
  ]);
});

test("the rooms are described in the order of the floors, in at most thirty rows", () => {
  const [, section = ""] = page.split("\n## The rooms\n");
  const described = namedRows(section.split("\n## ")[0] ?? "").map(([cell = ""]) =>
    cell.replaceAll("`", "").split(", "),
  );
  expect(described.flat()).toEqual(order);
  expect(described.length).toBeLessThanOrEqual(30);
});
