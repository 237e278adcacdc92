// What `trustflow example` prints is an input that can be started.
import { expect, test } from "vitest";
import { withoutComments } from "../../src/cli/files.js";
import { commentedExampleOf, exampleOf } from "../../src/contracts/example.js";
import { contractOf, processes } from "../../src/contracts/registry.js";
import { checkInput } from "../../src/contracts/shared/problems.js";

test.each(processes)(
  "the example of %s is a valid input, also with its comments",
  (processName) => {
    const example = exampleOf(processName);
    expect(checkInput(contractOf(processName).input, example).fields).toEqual([]);
    const text = commentedExampleOf(processName);
    expect(text).toMatch(/^ +\/\/ [A-Z]/m);
    expect(text).not.toContain("undefined");
    expect(JSON.parse(withoutComments(text))).toEqual(example);
  },
);
