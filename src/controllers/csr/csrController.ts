/**
 * Signs approved CertificateSigningRequests of all spaces, for the signers that the server itself is.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/
 */

import { at, objects, record } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { StreamEvent } from '../../client/client.ts'
import type { Controller } from '../../client/controller.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import type { Nature } from '../../placement/spaces/nature.ts'
import { type ControllerRuntime, spacesController } from '../spacesController.ts'

/** `undefined`: another signer's business. `refused` says why the request can never be signed. */
export type SignCertificate = (order: {
  /** Logical-cluster id. */
  space: string
  signerName: string
  /** PKCS #10, PEM. */
  requestPem: string
  usages: readonly string[]
  expirationSeconds: number | undefined
}) => Promise<{ certificatePem: string } | { refused: string } | undefined>

interface CsrControllerOptions extends ControllerRuntime {
  sign: SignCertificate
  /** Requests that do not act where they are, such as those of a cluster in its mailbox, are signed by nobody. */
  nature: Pick<Nature, 'acts'>
}

interface CsrKey {
  /** Logical-cluster id. */
  readonly space: string
  readonly name: string
}

const REQUESTS = { group: 'certificates.k8s.io', version: 'v1', resource: 'certificatesigningrequests' }

export function csrController(options: CsrControllerOptions): Controller<CsrKey> {
  const change = (event: StreamEvent): void => {
    const { space, name } = event
    if (event.type === 'DELETED' || !options.nature.acts(space, REQUESTS, event.object)) return
    if (isWaiting(event.object)) controller.add({ space, name })
  }
  const controller = spacesController<CsrKey>({
    ...options,
    name: 'certificatesigningrequest-signing-controller',
    resources: [REQUESTS],
    handler: { change },
    reconcile: key => reconcile(options, key),
    id: key => `${key.space}/${key.name}`,
  })
  return controller
}

async function reconcile({ client, nature, sign }: CsrControllerOptions, { space, name }: CsrKey): Promise<void> {
  const requests = client.in(space)
  const request = await unlessGone(requests.get(REQUESTS, { name }))
  if (!request || !isWaiting(request) || !nature.acts(space, REQUESTS, request)) return
  const spec = record(request, 'spec')
  const outcome = await sign({
    space,
    signerName: String(spec.signerName ?? ''),
    requestPem: Buffer.from(String(spec.request ?? ''), 'base64').toString('latin1'),
    usages: Array.isArray(spec.usages) ? spec.usages.map(String) : [],
    expirationSeconds: typeof spec.expirationSeconds === 'number' ? spec.expirationSeconds : undefined,
  })
  if (outcome === undefined) return
  const status = record(request, 'status')
  const signed =
    'certificatePem' in outcome
      ? { certificate: Buffer.from(outcome.certificatePem).toString('base64') }
      : { conditions: [...objects(request, 'status', 'conditions'), failed(outcome.refused)] }
  await requests.update(REQUESTS, { ...request, status: { ...status, ...signed } }, { subresource: 'status' })
}

function failed(message: string): Record<string, unknown> {
  return { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message }
}

/** Approved, not denied, and neither signed nor refused yet. */
function isWaiting(request: KubeObject): boolean {
  const types = objects(request, 'status', 'conditions').map(condition => condition.type)
  const decided = types.includes('Approved') && !types.includes('Denied') && !types.includes('Failed')
  return decided && !at(request, 'status', 'certificate')
}
