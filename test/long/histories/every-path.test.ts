// Every path of every process with no process kept in memory, and nothing personal in what was written meanwhile
// (docs/design.md §1.5, §8).
import { expect, test } from "@jest/globals";
import { testPaths } from "../../histories/path-tests.js";
import { allPaths } from "../../harness/histories/paths.js";

const canaries = testPaths(allPaths);

test("each secret of an input has its canaries", () => {
  expect(canaries.all.size).toBeGreaterThan(70);
  expect([...canaries.secrets.keys()].toSorted()).toEqual([
    "assertion",
    "certificate.password",
    "certificate.securityCode",
    "code",
    "deviceCode",
    "disposableCertificate.password",
    "disposableCertificate.securityCode",
    "esawToken",
    "options.evidenceAccessControlChallengeResponse",
    "the accounts' password",
  ]);
});
