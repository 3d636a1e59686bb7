/**
 * Objects that an apply of files would create, also where their Namespace or definition comes with the files. The dry run of kubectl sends
 * each object alone, and the server refuses those. They are previewed as written, beside their needs.
 */
import { isStatusError } from '../../../../apimachinery/errors.ts'
import { str } from '../../../../apimachinery/fields.ts'
import { type KubeObject, parseApiVersion } from '../../../../apimachinery/object.ts'
import { NAMESPACES } from '../../../../apimachinery/resources.ts'
import type { SpaceClient } from '../../../../client/client.ts'
import { CommandError } from '../../../shell/commandError.ts'
import type { Terminal } from '../../../shell/terminal.ts'
import type { Scope } from '../answerSession.ts'
import { TROUBLE } from '../exitCodes.ts'
import { applied, type FileOptions, fileFlags, whereTo, written } from '../kubectlApply.ts'

/** `terminal.input` has what the file `-` stands for. @throws CommandError with kubectl's words */
export async function firstApply(
  scope: Scope,
  options: FileOptions,
  terminal: Terminal & { readonly input: string },
): Promise<KubeObject[]> {
  const files = fileFlags(options)
  // what cannot be read has its words from the apply
  const found = await written(files, { ...terminal, err: () => {} }).catch(() => [])
  const coming = await comingWith(found, scope.space)
  const where = whereTo(scope, options)
  if (coming.namespaces.size === 0 && coming.kinds.size === 0) return await applied([...files, ...where], terminal)
  const { here, later, second } = divided(found, coming, scope.namespace)
  const other = later.find(
    ({ metadata: { namespace } }) =>
      options.namespace !== undefined && namespace !== undefined && namespace !== options.namespace,
  )
  if (other) {
    const { namespace } = other.metadata
    const why = `the namespace from the provided object ${JSON.stringify(namespace)} does not match the namespace ${JSON.stringify(options.namespace)}`
    throw new CommandError(`${why}; leave -n out`, TROUBLE)
  }
  if (second.size > 0)
    terminal.err(
      `Note: kubectl apply makes objects of ${[...second].join(', ')} in a second run: the definition comes with these files.`,
    )
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: here })
  return [...(await applied(['-f', '-', ...where], { ...terminal, input: list })), ...later]
}

interface Coming {
  /** Names. */
  readonly namespaces: ReadonlySet<string>
  /** Whether they have namespaces, by `kind.group`. */
  readonly kinds: ReadonlyMap<string, boolean>
  /** The same of those that are served. */
  readonly served: ReadonlyMap<string, boolean>
}

/** Namespaces and kinds that files bring and the space does not have. */
async function comingWith(found: readonly KubeObject[], space: SpaceClient): Promise<Coming> {
  const namespaces = new Set<string>()
  const kinds = new Map<string, boolean>()
  const brought = found.filter(isNamespace)
  const definitions = found.filter(isDefinition)
  if (brought.length + definitions.length === 0) return { namespaces, kinds, served: kinds }
  const served = new Map(
    (await space.discover()).map(({ kind, group, namespaced }) => [`${kind}.${group}`, namespaced]),
  )
  for (const { metadata } of brought)
    if (await isMissing(space, metadata.name ?? '')) namespaces.add(metadata.name ?? '')
  for (const one of definitions) {
    const kind = `${str(one, 'spec', 'names', 'kind')}.${str(one, 'spec', 'group')}`
    if (!served.has(kind)) kinds.set(kind, str(one, 'spec', 'scope') !== 'Cluster')
  }
  return { namespaces, kinds, served }
}

async function isMissing(space: SpaceClient, name: string): Promise<boolean> {
  try {
    await space.get(NAMESPACES, { name })
    return false
  } catch (error) {
    // a reader without rights gets the refusal from the apply
    return isStatusError(error, 'NotFound')
  }
}

interface Divided {
  /** For kubectl. */
  readonly here: readonly KubeObject[]
  /** With their namespace. */
  readonly later: readonly KubeObject[]
  /** Kinds of definitions that come. */
  readonly second: ReadonlySet<string>
}

function divided(found: readonly KubeObject[], { namespaces, kinds, served }: Coming, current: string): Divided {
  const here: KubeObject[] = []
  const later: KubeObject[] = []
  const second = new Set<string>()
  for (const object of found) {
    const { apiVersion, kind, metadata } = object
    const name = `${kind}.${parseApiVersion(apiVersion)?.group ?? ''}`
    const isNamespaced = kinds.get(name) ?? served.get(name)
    const namespace = isNamespaced ? (metadata.namespace ?? current) : undefined
    if (kinds.has(name)) second.add(kind)
    if (kinds.has(name) || (namespace !== undefined && namespaces.has(namespace)))
      later.push(namespace === undefined ? object : { ...object, metadata: { ...metadata, namespace } })
    else here.push(object)
  }
  return { here, later, second }
}

function isNamespace({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion === 'v1' && kind === 'Namespace'
}

function isDefinition({ apiVersion, kind }: KubeObject): boolean {
  return kind === 'CustomResourceDefinition' && parseApiVersion(apiVersion)?.group === 'apiextensions.k8s.io'
}
