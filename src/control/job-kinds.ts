/** Every kind of job, one line each. */
import type { JobKind } from '../jobs/job.ts';
import { createDemoteKind } from '../metadata/demote-job.ts';
import { createPromoteKind } from '../metadata/promote-job.ts';

export function createJobKinds(): readonly JobKind[] {
  return [createPromoteKind(), createDemoteKind()];
}
