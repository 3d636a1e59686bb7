/**
 * How long the chains of certificates may be that others show, in handshakes of this process, as server or client. OpenSSL verifies each
 * signature, of any issuer and on any curve, before a peer has shown a credential. It goes through a hundred, which takes half a second of
 * dear ones. Node.js has no setting for it, but OpenSSL takes the default of a connection from its parameters named `default`.
 * @see https://docs.openssl.org/3.5/man3/X509_VERIFY_PARAM_set_flags/
 */

/** Certificates between one's own and its root. Nobody's public chain has more than three. */
export const MAX_INTERMEDIATES = 4

/** OpenSSL's own: a certificate that is trusted goes before one that was shown. */
const TRUSTED_FIRST = 0x8000n

/**
 * For all threads of the process; to be called before there are others. Answers whether it succeeded: Node.js of older releases has no way
 * to OpenSSL.
 */
export function boundCertificateChains(): boolean {
  // Not imported: Node tells with each load that it is an experiment, and builds without it know no such module.
  const ffi = process.getBuiltinModule('node:ffi')
  if (!ffi) return false
  try {
    const { functions } = ffi.dlopen(null, {
      X509_VERIFY_PARAM_new: { arguments: [], return: 'pointer' },
      X509_VERIFY_PARAM_set1_name: { arguments: ['pointer', 'string'], return: 'i32' },
      X509_VERIFY_PARAM_set_flags: { arguments: ['pointer', 'u64'], return: 'i32' },
      X509_VERIFY_PARAM_set_depth: { arguments: ['pointer', 'i32'], return: 'void' },
      X509_VERIFY_PARAM_add0_table: { arguments: ['pointer'], return: 'i32' },
    })
    const parameters = functions.X509_VERIFY_PARAM_new()
    functions.X509_VERIFY_PARAM_set_depth(parameters, MAX_INTERMEDIATES)
    return (
      functions.X509_VERIFY_PARAM_set1_name(parameters, 'default') === 1 &&
      functions.X509_VERIFY_PARAM_set_flags(parameters, TRUSTED_FIRST) === 1 &&
      functions.X509_VERIFY_PARAM_add0_table(parameters) === 1
    )
  } catch {
    // another OpenSSL, or none that shows its names
    return false
  }
}
