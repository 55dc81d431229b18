/** What the routes of the three kinds of declaration share: the answers of a change, and what follows one. */
import { z } from '@hono/zod-openapi';
import type pg from 'pg';
import { listWarnings } from '../../prices/check-declaration.ts';
import type { Declaration } from '../../prices/declaration.ts';
import { MAX_DECLARATIONS, type Saved } from '../../prices/declaration-store.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { ApiError } from '../api-error.ts';
import { DeclarationId } from './prices-schemas.ts';

export const IdParameter = z.object({ id: DeclarationId });

/** Beside the declaration itself. */
export const SavedFields = {
  replaced: z.boolean().describe('One with the same key stood there before, with other content'),
  changed: z.boolean().describe('False: it stood there in the same words, and nothing was done'),
  warnings: z.array(z.string()).describe('What is probably not meant'),
} as const;

export const NO_DECLARATION = new ApiError(404, 'declaration_not_found', 'There is no such declaration with this id.');

/** Whoever has the answer finds the new prices in force here; other nodes follow within a second or so. */
export async function answerSaved<T>(
  deps: AdminDeps,
  pool: pg.Pool,
  saved: Saved<T>,
  toDeclaration: (declared: T) => Declaration,
) {
  if (saved.type === 'too_many')
    throw new ApiError(
      409,
      'too_many_declarations',
      `There are ${MAX_DECLARATIONS} of this kind already; remove some, or declare a prefix for many models.`,
    );
  if (saved.type === 'refused') throw new ApiError(409, 'mapping_loop', saved.problem);
  await deps.prices.refresh(pool);
  const warnings = [...listWarnings(toDeclaration(saved.declared), deps.prices.book())];
  return { declared: saved.declared, replaced: saved.isReplaced, changed: saved.isChanged, warnings };
}
