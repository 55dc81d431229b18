/**
 * Credentials in a path and its query: under a name that says so, in the form of one, and both inside a value that is
 * itself an address, percent-encoded more than once. What is hidden here is also what is looked for in answers.
 */
import { HIDDEN, hasSecretForm, hideSecretForms, listSecretForms } from './secret-form.ts';
import { decodeParameterName, decodePercent, isSecretName } from './secret-name.ts';

/** An address in an address in an address. */
const MAX_DECODINGS = 3;
/** A name and its value wherever they stand: in a query, a fragment, a path with parameters, an address within them. */
const ASSIGNMENT = /(?:^|[?&;#/,=\s])([^=?&;#/,\s]{1,100})=(?=([^&;#\s]*))/g;

/** The text and what it becomes decoded, once and again. */
export function listDecodings(text: string): readonly string[] {
  const all = [text];
  for (let times = 0; times < MAX_DECODINGS; times += 1) {
    const last = all.at(-1) ?? '';
    const decoded = decodePercent(last);
    if (decoded === last) break;
    all.push(decoded);
  }
  return all;
}

function listAssigned(text: string): readonly string[] {
  if (!text.includes('=')) return [];
  return [...text.matchAll(ASSIGNMENT)].flatMap(([, name = '', value = '']) =>
    isSecretName(decodeParameterName(name)) ? [value] : [],
  );
}

function holdsSecret(text: string): boolean {
  return listDecodings(text).some((one) => hasSecretForm(one) || listAssigned(one).length > 0);
}

/** Where it begins is kept, so that one sees what was there. */
function hidePiece(piece: string): string {
  const equals = piece.indexOf('=');
  const name = equals === -1 ? '' : piece.slice(0, equals);
  if (name !== '' && isSecretName(decodeParameterName(name))) return `${name}=${HIDDEN}`;
  const shown = hideSecretForms(piece);
  if (!/[%=+]/.test(shown)) return shown;
  const value = shown.slice(equals + 1);
  if (!holdsSecret(value) && !holdsSecret(name)) return shown;
  return name === '' || holdsSecret(name) ? HIDDEN : `${name}=${HIDDEN}`;
}

/** Some servers part parameters by `;` too, for others it belongs to the value: what follows a secret is hidden. */
function hideParameter(parameter: string): string {
  if (!parameter.includes(';')) return hidePiece(parameter);
  let shown = '';
  for (const piece of parameter.split(';')) {
    const hidden = hidePiece(piece);
    shown = shown === '' ? hidden : `${shown};${hidden}`;
    if (hidden !== piece) return shown;
  }
  return parameter;
}

/**
 * `/v1/models;key=abc?alt=sse&key=abc` → `/v1/models;key=***?alt=sse&key=***`; names are read as the provider reads
 * them.
 */
export function hideInTarget(path: string, query: string | null): string {
  const shown = mayHold(path) ? hideInPath(path) : path;
  return query === null ? shown : `${shown}?${query.split('&').map(hideParameter).join('&')}`;
}

/** A shorter path has no key of 64 digits in it. */
const HEX_KEY_FROM = 64;

function mayHold(path: string): boolean {
  return path.length > HEX_KEY_FROM || /[%;=]/.test(path) || hasSecretForm(path);
}

function hideInPath(path: string): string {
  return path.split('/').map(hideParameter).join('/');
}

/** Texts to look for in what comes back: each as sent, and decoded. */
export function listInTarget(path: string, query: string): readonly string[] {
  if (query === '' && !mayHold(path)) return [];
  const found: string[] = [];
  for (const piece of [...path.split(/[/;]/), ...query.split(/[&;]/)]) {
    if (hidePiece(piece) === piece) continue;
    for (const text of listDecodings(piece)) found.push(...listAssigned(text), ...listSecretForms(text));
  }
  return found;
}
