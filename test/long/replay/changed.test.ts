// No recorded history is replayed with workflows that were changed without care (docs/design.md §4).
import { allPaths } from "../../harness/histories/paths.js";
import { testOneMoreTimer } from "../../replay/one-more-timer.js";

testOneMoreTimer(allPaths);
