/** The modules of `src/workflows/runtime` that intercept all workflows: for the build, and for a worker that runs from the sources. */
export const workflowInterceptors = ["query-guard", "payload-guard", "status-memo", "trace-header"];
