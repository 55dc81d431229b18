/**
 * Runs the commands of a page of the documentation: each block marked "sh run", in order, and compares what it prints
 * with the block "text" after it. That is its standard output, or, where there is none, what it says on the other stream
 * (progress is written there too). Widths of columns do not count, and these stand for what differs from run to run:
 * `<days>`, `<day>`, `<id>`, `<time>`, `<version>`, `<actor>`, `<took>`, `<file>`.
 */
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMPILE_CACHE } from './start-gateway.ts';

const root = join(import.meta.dirname, '..', '..');
const RUN_LIMIT_MS = 60_000;

export interface DocumentedCommand {
  /** The heading that it stands under. */
  readonly section: string;
  readonly script: string;
  readonly output: string;
}

const BLOCK = /^## (?<section>.+)$|^```sh run\n(?<script>[\s\S]*?)^```\n(?:\n*```text\n(?<output>[\s\S]*?)^```$)?/gm;

export function readCommands(page: string): readonly DocumentedCommand[] {
  let section = '';
  return [...page.matchAll(BLOCK)].flatMap(({ groups = {} }) => {
    section = groups['section'] ?? section;
    const { script, output = '' } = groups;
    return script === undefined ? [] : [{ section, script, output }];
  });
}

const PLACEHOLDERS: Readonly<Record<string, string>> = {
  '<days>': String.raw`\d+`,
  '<day>': String.raw`\d{4}-\d\d-\d\d`,
  '<id>': '[0-9a-f-]+',
  '<time>': String.raw`\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{3})?)?Z?`,
  '<version>': '[0-9a-f]{16}',
  '<actor>': String.raw`\S+@\S+`,
  '<took>': String.raw`[\d.]+ m?s`,
  '<file>': String.raw`\S+`,
};

/** Lines without empty ones and with single spaces. */
function toLines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim().replace(/\s+/g, ' '))
    .filter((line) => line !== '');
}

function isAsDocumented(documented: string, printed: string): boolean {
  const pattern = documented
    .split(/(<[a-z]+>)/)
    .map((part) => PLACEHOLDERS[part] ?? part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('');
  return new RegExp(`^${pattern}$`).test(printed);
}

/** The printed lines, where they are as documented in the words of the documentation: what differs shows in a diff. */
export function compareOutput(documented: string, printed: string): { documented: string; printed: string } {
  const wanted = toLines(documented);
  const lines = toLines(printed).map((line, index) => {
    const text = wanted[index];
    return text !== undefined && isAsDocumented(text, line) ? text : line;
  });
  return { documented: wanted.join('\n'), printed: lines.join('\n') };
}

export interface CommandRunner {
  /** What it printed; whoever fails has printed why. */
  readonly run: (script: string) => Promise<string>;
  readonly remove: () => void;
}

/** A command that is printed to be typed has the path of this checkout and the data directory, which pages have not. */
function withoutPlace(printed: string, dataDir: string): string {
  return printed.replaceAll(join(root, 'tollgate'), 'tollgate').replaceAll(` --data-dir ${dataDir}`, '');
}

/** Runs scripts in a folder of their own, with `tollgate` on the path, against the gateway of this data directory. */
export function createCommandRunner(dataDir: string): CommandRunner {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-doc-'));
  const program = join(folder, 'tollgate');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'src/main.ts')}' "$@"\n`);
  chmodSync(program, 0o755);
  const env = {
    PATH: `${folder}:${process.env['PATH'] ?? ''}`,
    HOME: folder,
    TOLLGATE_DATA_DIR: dataDir,
    NODE_COMPILE_CACHE: COMPILE_CACHE,
  };
  return {
    run: (script) =>
      new Promise((resolve) => {
        // A refusal is something to show as well, so that its exit code is no failure here.
        execFile('sh', ['-c', script], { cwd: folder, env, timeout: RUN_LIMIT_MS }, (_error, stdout, stderr) => {
          resolve(withoutPlace(stdout === '' ? stderr : stdout, dataDir));
        });
      }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
