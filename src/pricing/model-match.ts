/** Decides which model ids a price is for, by declared rules only; `model-reach.ts` limits partial names. */
import { type Reach, reachesForms } from './model-reach.ts';

export type ModelMatch =
  | { readonly equals: string }
  | { readonly starts_with: string }
  /** Our form for operators' declarations; it matches any continuation. */
  | { readonly prefix: string }
  | { readonly ends_with: string }
  | { readonly contains: string }
  | { readonly regex: string }
  | { readonly or: readonly ModelMatch[] }
  | { readonly and: readonly ModelMatch[] };

export type ModelTest = (model: string) => boolean;

function reachesOver(reach: Reach, model: string, at: number, length: number): boolean {
  if (at < 0) return false;
  const end = at + length;
  return reach(model.slice(0, at), model.slice(at, end), model.slice(end));
}

export function createModelTest(match: ModelMatch, reach: Reach = reachesForms): ModelTest {
  if ('or' in match) {
    const tests = match.or.map((part) => createModelTest(part, reach));
    return (model) => tests.some((test) => test(model));
  }
  if ('and' in match) {
    const tests = match.and.map((part) => createModelTest(part, reach));
    return (model) => tests.every((test) => test(model));
  }
  if ('regex' in match) {
    const expression = new RegExp(match.regex, 'i');
    return (model) => expression.test(model);
  }
  if ('equals' in match) {
    const wanted = match.equals.toLowerCase();
    return (model) => model.toLowerCase() === wanted;
  }
  if ('starts_with' in match) {
    const prefix = match.starts_with.toLowerCase();
    return (model) => {
      const id = model.toLowerCase();
      return id.startsWith(prefix) && reachesOver(reach, id, 0, prefix.length);
    };
  }
  if ('prefix' in match) {
    const prefix = match.prefix.toLowerCase();
    return (model) => model.toLowerCase().startsWith(prefix);
  }
  if ('ends_with' in match) {
    const suffix = match.ends_with.toLowerCase();
    return (model) => {
      const id = model.toLowerCase();
      return id.endsWith(suffix) && reachesOver(reach, id, id.length - suffix.length, suffix.length);
    };
  }
  const part = match.contains.toLowerCase();
  return (model) => {
    const id = model.toLowerCase();
    return reachesOver(reach, id, id.indexOf(part), part.length);
  };
}

/** Limits the catalog's open-ended expressions (`^gemini-3\.5-flash-\d`), which would match other models. */
export function closeExpressions(match: ModelMatch, reach: Reach): ModelTest {
  if ('or' in match) {
    const tests = match.or.map((part) => closeExpressions(part, reach));
    return (model) => tests.some((test) => test(model));
  }
  if ('and' in match) {
    const tests = match.and.map((part) => closeExpressions(part, reach));
    return (model) => tests.every((test) => test(model));
  }
  if (!('regex' in match)) return createModelTest(match, reach);
  const expression = new RegExp(match.regex);
  return (model) => {
    const found = expression.exec(model);
    if (found === null) return false;
    const [part] = found;
    if (part === '') return true;
    // The digit may begin a revision or a size.
    const length = match.regex.endsWith('$') ? part.length : part.replace(/[-@]\d*$/, '').length;
    return reachesOver(reach, model.toLowerCase(), found.index, length);
  };
}
