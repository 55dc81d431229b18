/**
 * docs/transparency.md as data: which differences between a direct call and one through the gateway it admits, and
 * whether it explains a given one. It finds no differences itself; `list-edits.ts` does.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Edit } from './list-edits.ts';

const DOCUMENT = fileURLToPath(new URL('../../docs/transparency.md', import.meta.url));

export interface PathMapping {
  readonly provider: string;
  readonly from: string;
  readonly to: string;
}

export interface DocumentedEdits {
  /** Headers of one hop: may differ in any way. */
  readonly hop: readonly string[];
  /** Not passed on. */
  readonly dropped: readonly string[];
  readonly droppedPrefixes: readonly string[];
  /** Headers that the answer gains. */
  readonly gained: readonly string[];
  readonly mappings: readonly PathMapping[];
  /** Of a stream whose usage is asked for: the member that the body gains, and the header that changes. */
  readonly askedMember: string | null;
  readonly askedHeader: string | null;
}

export function readDocument(): string {
  return readFileSync(DOCUMENT, 'utf8');
}

function listQuoted(text: string): string[] {
  return Array.from(text.matchAll(/`([^`]+)`/g), ([, quoted = '']) => quoted);
}

function nameOf(header: string): string {
  return (header.split(':')[0] ?? '').toLowerCase();
}

export function readDocumentedEdits(document: string): DocumentedEdits {
  const rows = document
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const cells = rows.map((row) => row[1] ?? '');
  const namesIn = (pattern: RegExp): string[] => cells.filter((cell) => pattern.test(cell)).flatMap(listQuoted);
  const removed = namesIn(/are taken out/).map(nameOf);
  const gainedLines = document.split('\n').filter((line) => /^Answers gain /.test(line));
  return {
    hop: namesIn(/values, letter case and position/).map(nameOf),
    dropped: [...namesIn(/not passed on/), ...namesIn(/is answered by the gateway/)]
      .map(nameOf)
      .filter((name) => name !== 'connection'),
    droppedPrefixes: removed.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1)),
    gained: [...namesIn(/^The answer gains/), ...gainedLines.flatMap(listQuoted)].map(nameOf),
    mappings: rows.flatMap(([, provider = '', from = '', to = '']) =>
      /^`\/.*`$/.test(to) ? [{ provider: provider.slice(1, -1), from: from.slice(1, -1), to: to.slice(1, -1) }] : [],
    ),
    askedMember: /unless the request says `([^`]+)`/.exec(document)?.[1] ?? null,
    askedHeader: /`([^`]+)` is sent, so that the stream/.exec(document)?.[1] ?? null,
  };
}

function isMapped(mapping: PathMapping, provider: string, before: string, after: string): boolean {
  const isPath = before.startsWith(mapping.from) && /^(?:[/?]|$)/.test(before.slice(mapping.from.length));
  return mapping.provider === provider && isPath && after === mapping.to + before.slice(mapping.from.length);
}

/** The member in the form in which it is inserted: `a.b` as `"a":{"b":true},`. */
function insertedText(member: string): string {
  const [outer = '', inner = ''] = member.split('.');
  return `"${outer}":{"${inner}":true},`;
}

export function isDocumented(edit: Edit, documented: DocumentedEdits, provider: string): boolean {
  switch (edit.kind) {
    case 'path':
      return documented.mappings.some((mapping) => isMapped(mapping, provider, edit.before, edit.after));
    case 'request-header': {
      if (documented.hop.includes(edit.name)) return true;
      const asked = `${edit.name}: ${edit.after ?? ''}` === documented.askedHeader;
      return asked || (edit.after === null && isDropped(edit.name, documented));
    }
    case 'answer-header':
      if (documented.hop.includes(edit.name)) return true;
      if (edit.after === null) return isDropped(edit.name, documented);
      return edit.before === null && documented.gained.includes(edit.name);
    case 'request-body':
      return documented.askedMember !== null && edit.inserted === insertedText(documented.askedMember);
    case 'other':
      return false;
  }
}

function isDropped(name: string, { dropped, droppedPrefixes }: DocumentedEdits): boolean {
  return dropped.includes(name) || droppedPrefixes.some((prefix) => name.startsWith(prefix));
}
