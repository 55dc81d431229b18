/** A refusal of the API that names a field, as what stands beside that field. */
import { ApiError } from '../../api/client.ts';

export interface FieldProblem {
  /** As the API names it: `valid_to`, `rates.input`; null when it is about none. */
  readonly field: string | null;
  readonly message: string;
}

/** `add.rates.input: write a decimal`; a preview wraps the declaration in `add`. */
const NAMED = /^(?:add\.)?([a-z_]+(?:\.[a-z0-9_]+)*): (.+)$/s;

export function readFieldProblem(error: unknown, fields: readonly string[]): FieldProblem | null {
  if (error === null || error === undefined) return null;
  if (!(error instanceof ApiError)) return { field: null, message: String(error) };
  const [, field = '', message = ''] = error.status === 400 ? (NAMED.exec(error.message) ?? []) : [];
  return fields.includes(field) ? { field, message } : { field: null, message: error.message };
}
