/** Where commands write. A reader that went away (`| head`) ends the program quietly, as it does other tools. */

export interface Output {
  /** Waits when the reader is slow, so that a long answer is not held in memory. */
  readonly line: (text: string) => Promise<void>;
  readonly json: (value: unknown) => Promise<void>;
}

export function createOutput(stream: NodeJS.WriteStream): Output {
  stream.on('error', (error: Error) => {
    if ('code' in error && error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  async function line(text: string): Promise<void> {
    if (stream.write(`${text}\n`)) return;
    await new Promise<void>((resolve) => stream.once('drain', resolve));
  }
  return { line, json: (value) => line(JSON.stringify(value)) };
}
