// An example of a process, changed so that it comes to wait for an operator.
export interface Stopped<Input = any> {
  /** Of the command line. */
  command: string;
  /** In `examples/`. */
  example: string;
  stopped(example: Input, id: string): Input;
}
