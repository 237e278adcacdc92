// The crash points of `presentCredential` (docs/design.md §6).
import { testEveryCrashPoint } from "../../harness/crashes/promise.js";
import { presentCredentialUnderTest } from "../../processes/present-credential/under-test.js";

testEveryCrashPoint(presentCredentialUnderTest);
