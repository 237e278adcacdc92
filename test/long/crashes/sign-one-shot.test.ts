// The crash points of `signOneShot` (docs/design.md §6).
import { testEveryCrashPoint } from "../../harness/crashes/promise.js";
import { signOneShotUnderTest } from "../../processes/sign-one-shot/under-test.js";

testEveryCrashPoint(signOneShotUnderTest);
