/**
 * EdgePlacements: nobody sends to clusters what they may not read. Whoever writes one needs `get` and `list` on what the change
 * adds to its tests; anyone who may write it may narrow it.
 */
import { statusError } from '../../apimachinery/errors.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { forbiddenMessage } from '../auth/forbidden.ts'
import type { Attributes, Authorizer, UserInfo } from '../auth/types.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { type AddedTest, addedTests } from './placementAdditions.ts'
import { isPlacementWrite } from './placementWrites.ts'

/** To the authorizer, for one write. Whoever may read a kind everywhere is asked about it once. */
export const MAX_QUESTIONS = 2000
const ALL = '*'

export function placementAdmission({ authorizer }: { authorizer: Authorizer }): Admission {
  return {
    stage: 'validate',
    handles: isPlacementWrite,
    concerns: ({ object, old }) => old === undefined || !equalJson(object.spec, old.spec),
    async admit(request) {
      const added = addedTests(request.object.spec, request.old?.spec)
      if (added.length === 0) return
      const rights = new ReadRights(authorizer, request.context)
      if ((await rights.lacking({ group: ALL, resource: ALL, namespace: '', name: '' })) === undefined) return
      for (const test of added) await checkTest(request, rights, test)
    },
  }
}

interface Readable {
  readonly group: string
  readonly resource: string
  /** `''`: everywhere. */
  readonly namespace: string
  /** `''`: whatever its name. */
  readonly name: string
}

async function checkTest(request: AdmissionRequest, rights: ReadRights, test: AddedTest): Promise<void> {
  const refuse = (lacking: Attributes) => {
    const why = `${test.field} places what ${JSON.stringify(request.context.user.name)} may not read: ${forbiddenMessage(lacking)}; name only kinds, namespaces and objects that you may get and list`
    return statusError.forbidden(request.type, request.object.metadata.name ?? '', why)
  }
  const named = async (place: Readable): Promise<void> => {
    const lacking = await rights.lacking(place)
    if (lacking === undefined) return
    if (test.names === undefined) throw refuse(lacking)
    for (const name of test.names) {
      const lacksOne = await rights.lacking({ ...place, name })
      if (lacksOne !== undefined) throw refuse(lacksOne)
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
