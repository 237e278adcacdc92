// The crash points of `issueCredential` (docs/design.md §6).
import { testEveryCrashPoint } from "../../harness/crashes/promise.js";
import { issueCredentialUnderTest } from "../../processes/issue-credential/under-test.js";

testEveryCrashPoint(issueCredentialUnderTest);
