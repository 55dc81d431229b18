/** Why a gateway could not be asked, in one line with what to do. */
import { OperatorError } from '../vocabulary/errors.ts';

function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** OpenSSL's names of what is wrong with a certificate, as Node gives them, and Node's own. */
const CERTIFICATE = /CERT|^UNABLE_TO_VERIFY_LEAF_SIGNATURE$/;

function describe(url: string, cause: unknown): string {
  const code = codeOf(cause);
  const { hostname } = new URL(url);
  switch (code) {
    // A port that takes connections and closes them must not lead to "start another gateway".
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return `something at ${url} took the connection and closed it without an answer: the gateway's admin port has no place left (its log says so), it speaks TLS (https://), or it is just stopping; try again, and look who holds connections to that port`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name ${hostname} of ${url} cannot be looked up (${code}): see --url or TOLLGATE_ADMIN_URL`;
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return `${hostname} cannot be reached for ${url} (${code}): the machine is away, or a firewall is between`;
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return `what answers at ${url} speaks no TLS (${code}): try http://`;
    default:
      if (CERTIFICATE.test(code))
        return `the certificate of ${url} is not trusted (${code}): put NODE_EXTRA_CA_CERTS=FILE with its authority before the command, or ask by the name that the certificate is for`;
      return `no gateway answers at ${url}; start it with \`tollgate start\``;
  }
}

/** `cause`: what `fetch` has thrown. */
export function describeFailure(url: string, cause: unknown): OperatorError {
  return new OperatorError(describe(url, cause instanceof Error ? cause.cause : null), { cause });
}
