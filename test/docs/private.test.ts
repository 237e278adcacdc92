// Nothing in the repository says where it was written.
import { expect, test } from "vitest";
import { files, textOf } from "./repository.js";

const texts = files.filter((path) => !/\.(pdf|png|bin|gz|zip)$/.test(path));

/** Folders of one machine; spelled so that this file holds none. */
const machineFolder = new RegExp(
  `(?<![\\w.}/-])/(?:${["work", "root", "home"].join("|")})/[\\w.-]`,
);

/** Package registries are reached by name, through their clients. */
const registryHosts = new RegExp(
  [
    ["registry", "npmjs"],
    ["registry", "yarnpkg"],
    ["npmmirror", "com"],
    ["pypi", "org"],
    ["files", "pythonhosted"],
    ["proxy", "golang"],
    ["sum", "golang"],
    ["crates", "io"],
    ["repo1", "maven"],
    ["repo", "maven"],
    ["deb", "debian"],
  ]
    .map((parts) => parts.join(String.raw`\.`))
    .join("|"),
);

test.each([
  ["folder of a machine", machineFolder],
  ["host of a package registry", registryHosts],
])("no file names a %s", (_what, pattern) => {
  const found = texts.flatMap((path) =>
    textOf(path)
      .split("\n")
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])),
  );
  expect(found).toEqual([]);
});
