/**
 * EdgePlacements: nobody sends to clusters what they may not read. Whoever writes one needs `get` and `list` on what the change
 * adds to its tests; anyone who may write it may narrow it.
 */
import { statusError } from '../../apimachinery/errors.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { reachOf } from '../../placement/select/reach.ts'
import { forbiddenMessage } from '../auth/forbidden.ts'
import type { Attributes, Authorizer, UserInfo } from '../auth/types.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { type AddedTest, addedTests } from './placementAdditions.ts'
import { isPlacementWrite } from './placementWrites.ts'

/** To the authorizer, for one write. Whoever may read a kind everywhere is asked about it once. */
export const MAX_QUESTIONS = 2000
const ALL = '*'

export function placementAdmission({ authorizer, types }: PlacementAdmissionDeps): Admission {
  return {
    stage: 'validate',
    handles: isPlacementWrite,
    concerns: ({ object, old }) => old === undefined || !equalJson(object.spec, old.spec),
    async admit(request) {
      const added = addedTests(request.object.spec, request.old?.spec)
      if (added.length === 0) return
      const rights = new ReadRights(authorizer, request.context)
      if ((await rights.lacking({ group: ALL, resource: ALL, namespace: '', name: '' })) === undefined) return
      const served = types.in(request.context.space).types
      for (const test of added)
        await checkTest(request, rights, test, () =>
          readableOf(test, new ReadRights(authorizer, request.context), served),
        )
    },
  }
}

interface PlacementAdmissionDeps {
  authorizer: Authorizer
  types: Pick<TypeRegistry, 'in'>
}

interface Readable {
  readonly group: string
  readonly resource: string
  /** `''`: everywhere. */
  readonly namespace: string
  /** `''`: whatever its name. */
  readonly name: string
}

async function checkTest(
  request: AdmissionRequest,
  rights: ReadRights,
  test: AddedTest,
  readable: () => Promise<string>,
): Promise<void> {
  const refuse = async (lacking: Attributes) => {
    const isWide = test.apiGroup === undefined || test.resources === undefined
    const some = isWide ? await readable() : ''
    const why = [
      `${test.field} places what ${JSON.stringify(request.context.user.name)} may not read: ${forbiddenMessage(lacking)}`,
      some === ''
        ? 'name only kinds, namespaces and objects that you may get and list'
        : `in its place name what you may: ${some}`,
      'or ask an administrator of this space for a role with get and list of the rest',
    ]
    return statusError.forbidden(request.type, request.object.metadata.name ?? '', why.join('; '))
  }
  const named = async (place: Readable): Promise<void> => {
    const lacking = await rights.lacking(place)
    if (lacking === undefined) return
    if (test.names === undefined) throw await refuse(lacking)
    for (const name of test.names) {
      const lacksOne = await rights.lacking({ ...place, name })
      if (lacksOne !== undefined) throw await refuse(lacksOne)
    }
  }
  const group = test.apiGroup ?? ALL
  for (const resource of test.resources ?? [ALL]) {
    const everywhere = { group, resource, namespace: '', name: '' }
    if (test.namespaces === undefined) await named(everywhere)
    else if ((await rights.lacking(everywhere)) !== undefined) {
      for (const namespace of test.namespaces) await named({ ...everywhere, namespace })
    }
    if (rights.isExhausted) {
      const why = `${test.field}: more than ${MAX_QUESTIONS} rights would have to be looked up; name fewer kinds, namespaces and objects, or split the placement`
      throw statusError.forbidden(request.type, request.object.metadata.name ?? '', why)
    }
  }
}

/** Kinds in a refusal. */
const NAMED_KINDS = 60

/** Kinds that a test may select and its author may read wherever it selects them, as tests by API group; `''`: none. */
async function readableOf(test: AddedTest, rights: ReadRights, served: readonly ResourceType[]): Promise<string> {
  const byGroup = new Map<string, Set<string>>()
  const isMeant = ({ group, resource, namespaced, form, verbs }: ResourceType): boolean =>
    (test.apiGroup ?? group) === group &&
    (test.resources?.has(resource) ?? true) &&
    (namespaced || test.namespaces === undefined) &&
    form !== 'own' &&
    verbs.includes('list') &&
    reachOf({ group, resource }) !== 'none'
  let [named, more] = [0, 0]
  for (const { group, resource, namespaced } of served.filter(isMeant)) {
    if (byGroup.get(group)?.has(resource)) continue
    const places = namespaced && test.namespaces ? test.namespaces : ['']
    let lacks = false
    for (const namespace of places) {
      lacks = (await rights.lacking({ group, resource, namespace, name: '' })) !== undefined
      if (lacks) break
    }
    // too many rights to look up: the rest is not listed
    if (rights.isExhausted) break
    if (lacks) continue
    if (named === NAMED_KINDS) more++
    else byGroup.set(group, (byGroup.get(group) ?? new Set()).add(resource))
    if (more === 0) named++
  }
  const tests = [...byGroup].map(
    ([group, resources]) => `{apiGroup: ${JSON.stringify(group)}, resources: [${[...resources].sort().join(', ')}]}`,
  )
  return tests.length === 0 ? '' : `${tests.join(', ')}${more > 0 ? `, and ${more} more` : ''}`
}

class ReadRights {
  readonly #authorizer: Authorizer
  readonly #who: { user: UserInfo; space: string }
  /** What has been asked, with what is lacking. */
  readonly #known = new Map<string, Attributes | undefined>()
  #left = MAX_QUESTIONS

  constructor(authorizer: Authorizer, who: { user: UserInfo; space: string }) {
    this.#authorizer = authorizer
    this.#who = who
  }

  get isExhausted(): boolean {
    return this.#left < 0
  }

  /** The first right that is not held, of reading this; once too much was asked, nothing is lacking any more. */
  async lacking({ group, resource, namespace, name }: Readable): Promise<Attributes | undefined> {
    const key = [group, resource, namespace, name].join('|')
    if (this.#known.has(key)) return this.#known.get(key)
    for (const verb of ['get', 'list']) {
      if (--this.#left < 0) return undefined
      const { user, space } = this.#who
      const target = { group, version: ALL, resource, subresource: '', namespace, name }
      const attributes: Attributes = { user, space, verb, resource: target, path: '' }
      if ((await this.#authorizer.authorize(attributes)).allowed) continue
      this.#known.set(key, attributes)
      return attributes
    }
    this.#known.set(key, undefined)
    return undefined
  }
}
