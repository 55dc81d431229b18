/**
 * How far a partial name reaches over an id: over dates and documented id forms only. Any other word, number or
 * version, before or after, makes another model, whose price is unknown.
 */
import { BEDROCK_GEOGRAPHIES } from './bedrock-id.ts';

/** `before`, `part`, `after`: the lower-case id, cut around the rule's name. */
export type Reach = (before: string, part: string, after: string) => boolean;

const DATE = String.raw`[-@]20\d{6}|-20\d\d-\d\d-\d\d`;
/** Google dates previews by month and day, or by month and year. */
const PREVIEW_DATE = String.raw`-\d\d-\d\d|-\d\d-20\d\d|-[01]\d[0-3]\d`;

/** `-latest`, dates, `-001`, previews and experiments. Sources: the providers' model pages, November 2026. */
const FORMS = new RegExp(`^(?:-latest|${DATE}|-00\\d|-(?:preview|exp)(?:${PREVIEW_DATE}|${DATE})?)?$`);
/** A date follows such a name directly. */
const PREVIEW_NAME = /-(?:preview|exp|thinking)$/;
const PREVIEW_FORMS = new RegExp(`^(?:-exp)?(?:${PREVIEW_DATE}|${DATE})?$`);
/** Gemma models are named by size, with one price for the family. */
const GEMMA_SIZES = /^(?:-e?\d{1,3}b(?:-it)?)?$/;
/** `ft:BASE:organisation:name:id`; a date before the first colon is the base's. */
const FINE_TUNED = /^(?:-?(?:\d{4}(?:-\d\d-\d\d)?|\d\d-\d\d))?(?::[^:]*){0,4}$/;
/** Azure's fine-tunes: `BASE.ft-` and a hexadecimal number. */
const AZURE_FINE_TUNED = /^(?:[\da-f]{16,64})?$/;

/** A rule may end inside a date or revision (`claude-sonnet-4-2025`), which belongs to the rest. */
const OPEN_END = /[-@]\d*$/;

function splitOpenEnd(part: string, after: string): { readonly name: string; readonly rest: string } {
  const isOpen = /[-@]$/.test(part) ? after !== '' : /^\d/.test(after);
  const piece = isOpen ? (OPEN_END.exec(part)?.[0] ?? '') : '';
  return { name: part.slice(0, part.length - piece.length), rest: piece + after };
}

function isForm(part: string, after: string): boolean {
  if (part.startsWith('ft:')) return FINE_TUNED.test(after);
  if (part.endsWith('.ft-')) return AZURE_FINE_TUNED.test(after);
  const { name, rest } = splitOpenEnd(part, after);
  if (PREVIEW_NAME.test(name)) return PREVIEW_FORMS.test(rest);
  return name.startsWith('gemma-') ? GEMMA_SIZES.test(rest) : FORMS.test(rest);
}

/** DeepSeek's ids have no dates or revisions. Source: DeepSeek, models and pricing, November 2026. */
export const reachesNothing: Reach = (before, _part, after) => before === '' && after === '';

export const reachesForms: Reach = (before, part, after) => before === '' && isForm(part, after);

const BEDROCK_VERSION = /(?:-v\d+)?(?::\d+)?$/;
const ENDS_WITH_VERSION = /-v\d+$/;
const HAS_DATE = /-20\d{6}/;
const LEADING_DATE = /^-20\d{6}/;

/** `-v1:0` may be left out, and so may its `:0`. */
function listVersionForms(part: string, id: string): readonly string[] {
  const version = BEDROCK_VERSION.exec(id)?.[0] ?? '';
  const [major = '', minor = '0'] = version.split(':');
  if (ENDS_WITH_VERSION.test(part)) return ['', `:${minor}`];
  return major === '' ? ['', version] : ['', major, `${major}:${minor}`];
}

/** A rule without a vendor also matches ids with one. */
function isVendor(before: string, part: string, id: string): boolean {
  if (before === '') return true;
  const vendor = id.split('.').findLast((segment, index, segments) => index < segments.length - 1 && isWord(segment));
  return vendor !== undefined && !part.includes('.') && before === `${vendor}.`;
}

function isWord(segment: string): boolean {
  return /^[a-z]/.test(segment) && !BEDROCK_GEOGRAPHIES.has(segment) && segment !== 'regional';
}

/** An Amazon id ends with its version, a part of the name; the catalog's `id` says which a rule means. */
export function createBedrockReach(catalogId: string): Reach {
  const id = catalogId.toLowerCase();
  return (before, part, after) => {
    if (!isVendor(before, part, id)) return false;
    const rest = HAS_DATE.test(part) ? after : after.replace(LEADING_DATE, '');
    return listVersionForms(part, id).includes(rest);
  };
}
