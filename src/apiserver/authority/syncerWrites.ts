/**
 * Parts of an object that a syncer may write. The kinds and verbs were judged before (mailboxRules.ts); here the object is known. Objects
 * born in the cluster carry the syncer's mark, and only the center gives and takes its own marks.
 */
import { at, str } from '../../apimachinery/fields.ts'
import { isSameResource, type KubeObject } from '../../apimachinery/object.ts'
import { CRDS, NAMESPACES } from '../../apimachinery/resources.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { isStatusTooLarge, STATUS_LIMIT_BYTES } from '../../placement/outcome/statusLimit.ts'
import { ACCOUNT_MARKS } from '../../placement/words/marks.ts'
import { isMailbox, isProjected, PROJECTED_LABEL, UPSYNCED } from '../../placement/words/placement.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { refused, requireNone } from '../registry/admissionFrame.ts'
import type { SpaceTree } from '../spaces/tree.ts'
import { isDemanded, isReport, SYNCER_USER } from './syncerReach.ts'
import type { UpsyncDemands } from './upsyncDemands.ts'

export interface SyncerWritesDeps {
  tree: Pick<SpaceTree, 'pathOf'>
  demands: Pick<UpsyncDemands, 'of' | 'associates'>
}

/** Types of Secret that are credentials of the server that holds them. */
const SERVER_SECRETS =
  /^(kubernetes\.io\/service-account-token|bootstrap\.kubernetes\.io\/token|edge\.kubestellar\.io\/.*)$/

export function syncerWrites({ tree, demands }: SyncerWritesDeps): Admission {
  return {
    stage: 'validate',
    handles: () => true,
    reaches: ({ user, space, unstored }) =>
      unstored !== true && user.name === SYNCER_USER && isMailbox(tree.pathOf(space) ?? ''),
    async admit(request) {
      const { operation, type, subresource, object, old, context } = request
      const name = object.metadata.name ?? ''
      if (operation !== 'DELETE') checkStatus(request)
      const refuse = (why: string): never => {
        throw refused(request, why)
      }
      const target = { resource: type, namespace: object.metadata.namespace ?? '', name }
      const isCarried = async (): Promise<boolean> =>
        isDemanded(await demands.of(context.space), target) || (await demands.associates(context.space, type, object))
      if (subresource === 'status') {
        const known = isReport(type) || (old && isProjected(old)) || (isBorn(old) && (await isCarried()))
        if (!known) refuse(`a syncer reports the status of what was placed here (label ${PROJECTED_LABEL}) only`)
        // `/status` of most kinds changes metadata, too
        if (old && !isProjected(old)) checkMetadata(request, refuse)
        return
      }
      // the rules for all users (mailboxCopies.ts) cover it
      if (old !== undefined && isProjected(old)) return
      const isDeleted = operation === 'DELETE'
      // Objects of a set have to go when the set is gone.
      if (!isDeleted && !(await isCarried()))
        refuse('no upsync set of the mailbox names it, and no copy there asks for it')
      if ((isDeleted || old !== undefined) && !isBorn(old))
        refuse(`it was not carried here from the cluster (annotation ${UPSYNCED})`)
      if (isDeleted) return
      if (!isBorn(object) && !(isSameResource(type, NAMESPACES) && operation === 'CREATE'))
        refuse(`metadata.annotations: what a syncer carries has ${UPSYNCED}: ${JSON.stringify(markOf(object))}`)
      checkContent(request, refuse)
    },
  }
}

/** Stored content may stay. */
function checkStatus(request: AdmissionRequest): void {
  const { object, old } = request
  if (!isStatusTooLarge(object) || equalJson(object.status, old?.status)) return
  const detail = `a syncer reports at most ${STATUS_LIMIT_BYTES} bytes of JSON of an object; shorten what the cluster says there`
  requireNone(request, [{ type: 'TooLong', field: 'status', detail }])
}

/** Marks stay as they are. */
function checkMetadata({ type, object, old }: AdmissionRequest, refuse: (why: string) => never): void {
  const { annotations } = object.metadata
  if (isBorn(old) && !isBorn(object))
    refuse(`metadata.annotations: what a syncer carries has ${UPSYNCED}: ${JSON.stringify(markOf(object))}`)
  for (const key of ACCOUNT_MARKS) {
    if (annotations?.[key] !== old?.metadata.annotations?.[key])
      refuse(`metadata.annotations: ${key} is the center's; take it off the object in the cluster`)
  }
  for (const field of ['finalizers', 'ownerReferences'] as const) {
    const before = old?.metadata[field] ?? []
    const added = (object.metadata[field] ?? []).some(each => !before.some(known => equalJson(known, each)))
    // the server's own, on definitions
    if (added && !(field === 'finalizers' && isSameResource(type, CRDS)))
      refuse(`metadata.${field}: they stay in the cluster`)
  }
}

function checkContent(request: AdmissionRequest, refuse: (why: string) => never): void {
  const { type, object } = request
  checkMetadata(request, refuse)
  if (type.group === '' && type.resource === 'secrets' && SERVER_SECRETS.test(str(object, 'type')))
    refuse(`type: a Secret of type ${str(object, 'type')} is a credential of the server that holds it`)
  if (isSameResource(type, CRDS) && at(object, 'spec', 'conversion', 'strategy') === 'Webhook')
    refuse('spec.conversion: a webhook of the cluster is not called here')
}

/** The mark on what was born in the cluster: children that inherit the annotation do not inherit its value. */
function markOf({ kind, metadata }: Readonly<KubeObject>): string {
  return `${kind}/${metadata.namespace ?? ''}/${metadata.name}`
}

function isBorn(object: Readonly<KubeObject> | undefined): boolean {
  return object !== undefined && object.metadata.annotations?.[UPSYNCED] === markOf(object)
}
