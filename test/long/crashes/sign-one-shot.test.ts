// The crash points of `signOneShot` (docs/design.md §6).
import { testEveryCrashPoint } from "../../support/crash-promise.js";
import { signOneShotUnderTest } from "../../support/sign-one-shot-under-test.js";

testEveryCrashPoint(signOneShotUnderTest);
