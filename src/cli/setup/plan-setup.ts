/** Which files become what, before anything is written. Reads files, and changes none. */

import { readAddress } from '../address-owner.ts';
import type { Path } from './config-format.ts';
import { type Change, editText, undoChanges } from './edit-text.ts';
import { FORMATS } from './registry.ts';
import type { FileEdit, FormatName, SetupClient, SetupPlace } from './setup-client.ts';
import type { SetupFile, SetupRecord } from './setup-record.ts';
import { type FileState, readUserFile } from './user-file.ts';

const PRIVATE_MODE = 0o600;

export interface PlannedFile {
  readonly path: string;
  readonly format: FormatName;
  /** As it is now; null where there is none. */
  readonly now: FileState | null;
  /** As it was, or would be, without us. */
  readonly before: FileState | null;
  /** As it is to be; null to remove it. */
  readonly next: FileState | null;
  /** From `before` to `next`. */
  readonly changes: readonly Change[];
  /** Values that somebody has changed since they were set up, and that stay. */
  readonly left: readonly Path[];
  /** As of `FileEdit`. */
  readonly foreign: readonly string[];
  readonly replaced: readonly string[];
}

type Base = Pick<PlannedFile, 'now' | 'before' | 'left'>;

function isEmpty(format: FormatName, text: string): boolean {
  const value = FORMATS[format].parse(text);
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

/** A file without what was set up before: as it was to the byte, unless something else has changed in it since. */
function readBase(path: string, format: FormatName, former: SetupFile | undefined): Base {
  const now = readUserFile(path);
  if (former === undefined || now === null) return { now, before: former === undefined ? now : null, left: [] };
  // The others are those of a setup or undoing that was broken off before it came to this file.
  if ([former.after, former.was, former.before?.text].includes(now.text))
    return { now, before: former.before, left: [] };
  const { text, left } = undoChanges(FORMATS[format], now.text, former.changes);
  const isOurs = former.before === null && isEmpty(format, text);
  return { now, before: isOurs ? null : { text, mode: former.before?.mode ?? now.mode }, left };
}

function planFile(
  { path, format, edits, left: foreign = [], replaced = [] }: FileEdit,
  base: Base,
  key: string,
): PlannedFile {
  const { text, changes } = editText(FORMATS[format], base.before?.text ?? '', edits);
  // A file of ours alone is not made for nothing.
  if (edits.length === 0 && base.before === null)
    return { path, format, ...base, next: null, changes, foreign, replaced };
  const mode = text.includes(key) ? PRIVATE_MODE : (base.before?.mode ?? PRIVATE_MODE);
  return { path, format, ...base, next: { text, mode }, changes, foreign, replaced };
}

function planUndoOf(former: SetupFile): PlannedFile {
  const base = readBase(former.path, former.format, former);
  return {
    path: former.path,
    format: former.format,
    ...base,
    next: base.before,
    changes: [],
    foreign: [],
    replaced: [],
  };
}

export function planSetup(
  client: SetupClient,
  place: Omit<SetupPlace, 'hasFile' | 'read' | 'addressOf'>,
  record: SetupRecord | null,
  gateways: readonly string[] = [],
): readonly PlannedFile[] {
  const formerOf = (path: string) => record?.files.find((file) => file.path === path);
  const baseOf = (path: string, format: FormatName) => readBase(path, format, formerOf(path));
  const edits = client.listFiles({
    ...place,
    addressOf: (address) => readAddress(address, [place.origin, ...gateways]),
    hasFile: (path) => (formerOf(path)?.before === null ? false : readUserFile(path) !== null),
    read: (path, format) => FORMATS[format].parse(baseOf(path, format).before?.text ?? ''),
  });
  const planned = edits.map((edit) => planFile(edit, baseOf(edit.path, edit.format), place.key));
  const gone = (record?.files ?? []).filter(({ path }) => !edits.some((edit) => edit.path === path));
  return [...planned, ...gone.map(planUndoOf)];
}

export function planUndo(record: SetupRecord): readonly PlannedFile[] {
  return record.files.map(planUndoOf);
}

export function isChange({ now, next }: PlannedFile): boolean {
  return now?.text !== next?.text || now?.mode !== next?.mode;
}
