/** The output of commands. A reader that closes its end (`| head`) ends the program quietly. */
import { withOwnCommands } from './hints.ts';

export interface Output {
  /** Waits for a slow reader, so that a long answer does not pile up in memory. */
  readonly line: (text: string) => Promise<void>;
  /** A line of our own words, in which commands can be typed as they stand. */
  readonly say: (text: string) => Promise<void>;
  readonly lines: (texts: Iterable<string>) => Promise<void>;
  readonly json: (value: unknown) => Promise<void>;
  readonly jsonLines: (values: readonly unknown[]) => Promise<void>;
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
  async function lines(texts: Iterable<string>): Promise<void> {
    for (const text of texts) await line(text);
  }
  return {
    line,
    say: (text) => line(withOwnCommands(text)),
    lines,
    json: (value) => line(JSON.stringify(value)),
    jsonLines: (values) => lines(values.map((value) => JSON.stringify(value))),
  };
}
