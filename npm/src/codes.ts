/** What the codes of platform errors mean. @module */

import type { Failure, Phase } from "./failure.ts";

const NEVER_SENT = /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|ConnectionRefused|FailedToOpenSocket)$/;
const CONNECT_TIMEOUT = /^(UND_ERR_CONNECT_TIMEOUT|ERR_SOCKET_CONNECTION_TIMEOUT)$/;
const TIMEOUT = /^(ETIMEDOUT|ESOCKETTIMEDOUT|UND_ERR_(HEADERS|BODY)_TIMEOUT|Timeout)$/;
const NETWORK =
  /^(E(CONN(RESET|ABORTED)|PIPE|PROTO|NOTCONN|(HOST|NET)(UNREACH|DOWN)|NETRESET|ADDRNOTAVAIL)|UND_ERR_(SOCKET|CLOSED|DESTROYED)|HPE_\w+|ERR_(HTTP2_\w+|SSL_\w+|STREAM_PREMATURE_CLOSE)|Connection(Reset|Closed)|Malformed_HTTP_Response)$/;
const PROGRAMMING =
  /^(ERR_(INVALID_(URL|PROTOCOL|CHAR|HTTP_TOKEN|ARG_\w+)|UNESCAPED_CHARACTERS|HTTP_INVALID_\w+|TLS_CERT_\w+)|UND_ERR_(INVALID_ARG|NOT_SUPPORTED|REQ_CONTENT_LENGTH_MISMATCH)|CERT_\w+|\w*SELF_SIGNED_CERT\w*|UNABLE_TO_(GET_ISSUER_CERT|VERIFY_LEAF_SIGNATURE)\w*|HOSTNAME_MISMATCH)$/;

/** The failure that one error of a chain stands for, if its code is known. */
export function byCode(error: { code?: unknown; syscall?: unknown }): Failure | undefined {
  const { code, syscall } = error;
  if (typeof code !== "string" || code.length > 64) return undefined;
  const cause = error;
  const connecting = syscall === "connect" || syscall === "getaddrinfo";
  const phase: Phase = connecting ? "not_sent" : "unknown";
  if (PROGRAMMING.test(code)) return { kind: "client", status: 0, cause };
  if (NEVER_SENT.test(code)) return { kind: "network", phase: "not_sent", cause };
  if (CONNECT_TIMEOUT.test(code)) return { kind: "timeout", phase: "not_sent", cause };
  if (TIMEOUT.test(code)) return { kind: "timeout", phase, cause };
  if (NETWORK.test(code)) return { kind: "network", phase, cause };
  return undefined;
}
