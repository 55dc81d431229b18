/** The fields that alerts and their destinations share. */
import { z } from '@hono/zod-openapi';

export const Id = z.coerce.number().int().min(1).max(2_147_483_647);
export const IdParameter = z.object({ id: Id });
export const Name = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^\P{Cc}*$/u, 'without control characters');

export const DeletedBody = z.object({ id: z.number().int() });
