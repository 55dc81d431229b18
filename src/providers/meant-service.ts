/**
 * Which of AWS's services a request is meant for: by the host it names, else by the scope of its signature (Version 4).
 */
import { readAwsHost } from '../aws-host.ts';
import type { RequestLine } from './provider.ts';

const HEADER_SCOPE = /^\s*AWS4-[^,]*Credential=[^/,\s]+\/\d{8}\/[^/,\s]+\/([^/,\s]+)\//i;
const QUERY_SCOPE = /(?:^|&)X-Amz-Credential=[^&]*?(?:\/|%2F)\d{8}(?:\/|%2F)[^&/%]+(?:\/|%2F)([^&/%]+)(?:\/|%2F)/i;

/** Null where it says neither. The signature itself is not checked. */
export function readMeantService({ header, query }: RequestLine): string | null {
  const scope = HEADER_SCOPE.exec(header('authorization') ?? '')?.[1] ?? QUERY_SCOPE.exec(query)?.[1];
  return readAwsHost(header('host') ?? '')?.service ?? scope?.toLowerCase() ?? null;
}
