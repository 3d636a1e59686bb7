/** The object that a command is about, as people name it to kubectl. Pure. */

import { didYouMean } from '../../../apimachinery/nearest.ts'
import { type GroupResource, groupResourceName } from '../../../apimachinery/object.ts'
import type { DiscoveredResource } from '../../../client/client.ts'
import { CommandError } from '../../shell/commandError.ts'

interface ObjectArgument {
  /** As it was written: plural, singular, short name or kind, with a group or without. */
  readonly kind: string
  readonly name: string
}

const USAGE = 'name one object as KIND/NAME or KIND NAME, such as deployment/web'

/** @throws CommandError */
export function parseObjectArgument(args: readonly string[]): ObjectArgument {
  const [first = '', second, ...more] = args
  const slash = first.indexOf('/')
  if (slash >= 0 && second !== undefined) {
    throw new CommandError(`${JSON.stringify(args.join(' '))} names more than one object; ${USAGE}`)
  }
  const kind = slash < 0 ? first : first.slice(0, slash)
  const name = slash < 0 ? (second ?? '') : first.slice(slash + 1)
  if (kind === '' || name === '' || more.length > 0) {
    throw new CommandError(`${JSON.stringify(args.join(' '))} names no object; ${USAGE}`)
  }
  return { kind, name }
}

/** The served kind under a name that people use. @throws CommandError with names that are like it */
export function resolveKind(requested: string, served: readonly DiscoveredResource[]): DiscoveredResource {
  const wanted = requested.toLowerCase()
  const found = served.find(one => callNames(one).includes(wanted)) ?? served.find(one => isQualified(one, wanted))
  if (found) return found
  const names = served.flatMap(one => [...callNames(one), groupResourceName(one)])
  throw new CommandError(`this space serves no kind called ${JSON.stringify(requested)}${didYouMean(wanted, names)}`)
}

function callNames({ resource, kind, singular, shortNames }: DiscoveredResource): string[] {
  return [resource, kind.toLowerCase(), ...(singular === undefined ? [] : [singular]), ...(shortNames ?? [])]
}

/** `kind.group` or `kind.version.group`. */
function isQualified(one: DiscoveredResource, wanted: string): boolean {
  return callNames(one).some(
    name =>
      wanted === `${name}.${one.group}` ||
      [one.version, ...(one.versions ?? [])].some(version => wanted === `${name}.${version}.${one.group}`),
  )
}

/** `configmaps "shop/prices"`, as messages of the server name objects. */
export function nameOfObject(resource: GroupResource, namespace: string, name: string): string {
  return `${groupResourceName(resource)} ${JSON.stringify(namespace === '' ? name : `${namespace}/${name}`)}`
}
