/** Hides credentials in a path and query, by name or form, also inside nested percent-encoded addresses. */
import { HIDDEN, hasSecretForm, hideSecretForms, listSecretForms } from './secret-form.ts';
import { decodeParameterName, decodePercent, isSecretName } from './secret-name.ts';

const MAX_DECODINGS = 3;
/** A name and value anywhere: a query, a fragment, path parameters, or an address within them. */
const ASSIGNMENT = /(?:^|[?&;#/,=\s])([^=?&;#/,\s]{1,100})=(?=([^&;#\s]*))/g;

/** What stands behind a scheme, and the password of an address. */
const SCHEME = /\b(?:bearer|basic)[ :+]+(?=[\w.~/-]*\d)[\w.~/-]{12,}/i;
const PASSWORD = /:\/\/[^\s/?#@:]{0,64}:[^\s/?#@]{4,}@/;

/** The text and its successive decodings. */
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
  return listDecodings(text).some(
    (one) => hasSecretForm(one) || SCHEME.test(one) || PASSWORD.test(one) || listAssigned(one).length > 0,
  );
}

/** Keeps the beginning, which shows what was there. */
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

/** Some servers separate parameters by `;` too, so everything after a secret is hidden. */
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

/** `/v1/models;key=abc?alt=sse&key=abc` → `/v1/models;key=***?alt=sse&key=***`. */
export function hideInTarget(path: string, query: string | null): string {
  const shown = mayHold(path) ? hideInPath(path) : path;
  return query === null ? shown : `${shown}?${query.split('&').map(hideParameter).join('&')}`;
}

/** A shorter path cannot hold a key of 64 digits. */
const HEX_KEY_FROM = 64;

function mayHold(path: string): boolean {
  return path.length > HEX_KEY_FROM || /[%;=]/.test(path) || hasSecretForm(path);
}

function hideInPath(path: string): string {
  return path.split('/').map(hideParameter).join('/');
}

/** Each text as sent and decoded. */
export function listInTarget(path: string, query: string): readonly string[] {
  if (query === '' && !mayHold(path)) return [];
  const found: string[] = [];
  for (const piece of [...path.split(/[/;]/), ...query.split(/[&;]/)]) {
    if (hidePiece(piece) === piece) continue;
    for (const text of listDecodings(piece)) found.push(...listAssigned(text), ...listSecretForms(text));
  }
  return found;
}
