/** Rights that a command of several steps takes, looked at before the first of them: it does all, or nothing. */
import { isStatusError } from '../../apimachinery/errors.ts'
import { at } from '../../apimachinery/fields.ts'
import { type GroupVersionResource, groupResourceName } from '../../apimachinery/object.ts'
import type { Client } from '../../client/client.ts'
import { CommandError } from '../shell/commandError.ts'

export interface Right {
  /** Path of the space. */
  readonly space: string
  readonly verb: string
  readonly resource: GroupVersionResource
  readonly subresource?: string
  readonly name?: string
}

const REVIEWS: GroupVersionResource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  resource: 'selfsubjectaccessreviews',
}

/** @throws CommandError that names what is missing, where, and who has it */
export async function requireRights(client: Client, rights: readonly Right[]): Promise<void> {
  const has = await Promise.all(rights.map(right => hasRight(client, right)))
  const missing = rights.filter((_, i) => !has[i])
  if (missing.length === 0) return
  const byKind = Map.groupBy(missing, right => `${nameOf(right)} in ${right.space}`)
  const what = [...byKind].map(([kind, each]) => `${each.map(({ verb }) => verb).join(' or ')} ${kind}`).join(', nor ')
  const spaces = [...new Set(missing.map(({ space }) => space))].join(' and of ')
  throw new CommandError(
    `nothing was changed: you may not ${what}; an administrator of ${spaces} can run this command, or give you the right`,
  )
}

function nameOf({ resource, subresource }: Right): string {
  const { group, resource: plural } = resource
  return groupResourceName({ group, resource: subresource === undefined ? plural : `${plural}/${subresource}` })
}

/** A space that is not there refuses later, in words of its own. */
async function hasRight(client: Client, { space, verb, resource, subresource, name }: Right): Promise<boolean> {
  const resourceAttributes = { ...resource, verb, ...(subresource && { subresource }), ...(name && { name }) }
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    metadata: {},
    spec: { resourceAttributes },
  }
  try {
    return at(await client.in(space).create(REVIEWS, review), 'status', 'allowed') === true
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return false
    if (isStatusError(error, 'NotFound')) return true
    throw error
  }
}
