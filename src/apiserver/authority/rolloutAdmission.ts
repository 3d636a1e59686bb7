/**
 * PlacementRevisions and PlacementRollouts are the server's. People write a few fields of their specs: they pin, pause, approve and
 * hurry. An approval takes the verb `approve`, hurrying the verb `expedite`; the server notes who did it and when.
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { objects, record, str } from '../../apimachinery/fields.ts'
import type { GroupResource, KubeObject } from '../../apimachinery/object.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { EDGE_GROUP, PLACEMENT_REVISIONS, PLACEMENT_ROLLOUTS } from '../../placement/words/placement.ts'
import { forbiddenMessage } from '../auth/forbidden.ts'
import { questionOf } from '../auth/questions.ts'
import type { Authorizer } from '../auth/types.ts'
import { effectiveUser } from '../auth/users.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { refused, requireNone } from '../registry/admissionFrame.ts'
import { isServer } from '../registry/context.ts'
import { serverWrites } from './serversObjects.ts'

type Fields = Record<string, unknown>

/** Fields of people, by kind, each with the field in which the server notes who wrote it, and the verb that it takes. */
const SWITCHES: Readonly<Record<string, Readonly<Record<string, { noted: string; verb?: string }>>>> = {
  [PLACEMENT_REVISIONS.resource]: { pinned: { noted: 'pinnedBy' } },
  [PLACEMENT_ROLLOUTS.resource]: {
    paused: { noted: 'pausedBy' },
    urgent: { noted: 'urgentBy', verb: 'expedite' },
  },
}
const APPROVALS = 'approvals'

function isOurs({ group, resource }: GroupResource): boolean {
  return group === EDGE_GROUP && Object.hasOwn(SWITCHES, resource)
}

function fieldsOfPeople({ resource }: GroupResource): string[] {
  const approvals = resource === PLACEMENT_ROLLOUTS.resource ? [APPROVALS] : []
  return [...Object.keys(SWITCHES[resource] ?? {}), ...approvals]
}

export const rolloutGate = serverWrites(
  (type, operation, subresource) => isOurs(type) && (operation !== 'UPDATE' || subresource !== ''),
  type => `the center writes it, and it goes with its EdgePlacement; people set ${inSpec(type)}`,
)

export function rolloutWrites(deps: { authorizer: Authorizer; clock: () => Date }): Admission {
  return {
    stage: 'mutate',
    handles: (type, operation, subresource) => isOurs(type) && operation === 'UPDATE' && subresource === '',
    reaches: ({ user }) => !isServer(user),
    async admit(request) {
      const { type, object, old, context } = request
      const [before, after] = [record(old, 'spec'), record(object, 'spec')]
      const noted = { by: effectiveUser(context.user, context.space).name, at: timestamp(deps.clock()) }
      const verbs = new Set<string>()
      const spec: Fields = { ...before }
      for (const [name, { noted: field, verb }] of Object.entries(SWITCHES[type.resource] ?? {})) {
        if ((after[name] ?? false) === (before[name] ?? false)) continue
        if (verb) verbs.add(verb)
        delete spec[name]
        delete spec[field]
        if (after[name] === true) Object.assign(spec, { [name]: true, [field]: noted })
      }
      if (type.resource === PLACEMENT_ROLLOUTS.resource && !equalJson(before[APPROVALS], after[APPROVALS])) {
        verbs.add('approve')
        spec[APPROVALS] = approvalsOf(before, after, noted)
      }
      requireNone(request, [
        ...metadataProblems(old, object),
        ...problemsOf(type, before, after),
        ...unknownGroups(before, spec),
      ])
      for (const verb of verbs) await requireVerb(deps.authorizer, request, verb)
      object.spec = spec
    },
  }
}

/** Approvals that were there keep their approver. */
function approvalsOf(before: Fields, after: Fields, noted: Fields): Fields[] {
  const known = new Map(objects(before, APPROVALS).map(one => [str(one, 'group'), one]))
  return objects(after, APPROVALS).map(one => known.get(str(one, 'group')) ?? { group: str(one, 'group'), ...noted })
}

/** The server finds revisions by their labels, and they go with their owner. */
const OWN_METADATA = ['labels', 'ownerReferences', 'finalizers'] as const

function metadataProblems(old: KubeObject | undefined, { metadata }: KubeObject): FieldError[] {
  return OWN_METADATA.filter(name => !equalJson(old?.metadata[name] ?? null, metadata[name] ?? null)).map(name =>
    fieldError.forbidden(`metadata.${name}`, 'the center writes it; annotations are free'),
  )
}

/** Changes of a person to the server's fields. */
function problemsOf(type: GroupResource, before: Fields, after: Fields): FieldError[] {
  const noted = Object.values(SWITCHES[type.resource] ?? {}).map(({ noted }) => noted)
  const free = [...fieldsOfPeople(type), ...noted]
  const names = Object.keys({ ...before, ...after }).filter(name => !free.includes(name))
  return names
    .filter(name => !equalJson(before[name], after[name]))
    .map(name => fieldError.forbidden(`spec.${name}`, `the center writes it; people set ${inSpec(type)}`))
}

function unknownGroups(before: Fields, spec: Fields): FieldError[] {
  const known = new Set(objects(before, APPROVALS).map(one => str(one, 'group')))
  const groups = objects(before, 'strategy', 'decisionGroups').filter(({ approval }) => approval === true)
  const names = groups.map(group => str(group, 'groupName'))
  return objects(spec, APPROVALS).flatMap((one, i) => {
    const name = str(one, 'group')
    if (known.has(name) || names.includes(name)) return []
    const field = `spec.${APPROVALS}[${i}].group`
    if (names.length > 0) return [fieldError.notSupported(field, name, names)]
    return [fieldError.invalid(field, name, 'no group of this rollout waits for an approval')]
  })
}

async function requireVerb(authorizer: Authorizer, request: AdmissionRequest, verb: string): Promise<void> {
  const { group, version, resource } = request.type
  const question = questionOf(request.context, verb, { group, version, resource, name: request.object.metadata.name })
  if (!(await authorizer.authorize(question)).allowed) throw refused(request, forbiddenMessage(question))
}

function inSpec(type: GroupResource): string {
  return fieldsOfPeople(type)
    .map(name => `spec.${name}`)
    .join(', ')
}
