/** Commands that messages name are commands that there are: users type them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { listSourceFiles } from './import-table.ts';

const root = join(import.meta.dirname, '../..');
const HELP = z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(join(root, 'bin/help.json'), 'utf8')));

/** Words that follow the name in other texts: application names, what seals and locks are for, a database's name. */
const OTHER_WORDS =
  /^(?:admin|shipper|retention|estimates|node|supervisor|search|session|sign-in|cursor|credential|alert|as)$/;
/** `internal-help` and its like are for the program itself. */
const HIDDEN = /^internal-/;

/** Whether a second word can only be a subcommand: `keys` needs one, `runs [trace]` takes a name as well. */
function isGroup(command: string): boolean {
  return /^Usage: .*\[command\]\s*$/.test(HELP[command]?.split('\n')[0] ?? '');
}

/** The commands in a source, comments aside, that there are not. */
function findUnknown(source: string): readonly string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
  return [...code.matchAll(/(?<![\w@/.-])tollgate (?<first>[a-z][a-z-]*)(?: (?<second>[a-z][a-z-]*))?/g)].flatMap(
    ({ groups = {} }) => {
      const { first = '', second } = groups;
      if (HELP[first] === undefined) return OTHER_WORDS.test(first) || HIDDEN.test(first) ? [] : [first];
      const both = `${first} ${second}`;
      return second === undefined || !isGroup(first) || HELP[both] !== undefined ? [] : [both];
    },
  );
}

test('the search sees commands that there are not, and takes no argument for one', () => {
  expect(findUnknown("'see `tollgate prices unpriced`, or tollgate limit list'")).toEqual(['prices unpriced', 'limit']);
  expect(findUnknown("'`tollgate costs unpriced`, `tollgate runs nightly`, tollgate doctor says why'")).toEqual([]);
});

test('every command that the sources name in their texts is in the help', () => {
  const unknown = listSourceFiles(join(root, 'src'))
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => findUnknown(readFileSync(join(root, 'src', file), 'utf8')).map((one) => `${file}: ${one}`));
  expect(unknown).toEqual([]);
});
