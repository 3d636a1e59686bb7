/**
 * Writes `openapi/generated/`: the catalog of every kind that a space serves. Run it as `node openapi/derive.ts` after
 * installing, and after any change below `openapi/`.
 *
 * The built-in Kubernetes kinds come from the model metadata of the installed `@kubernetes/client-node`, with the facts of
 * `fieldFacts.ts` and `resourceFacts.ts`; Orrery's own from `groups/*.yaml`.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { CatalogFile, CatalogResource, DescriptionsFile } from './catalogFormat.ts'
import { type Model, Models } from './derive/models.ts'
import { modelsIn, nameDefinitions, type RootModel, splitModelName, VERSION_MODEL } from './derive/names.ts'
import { type ResourceOperations, readOperations } from './derive/operations.ts'
import { readOwnGroups } from './derive/ownGroups.ts'
import { buildSchemas } from './derive/schemas.ts'
import {
  CATEGORIES,
  GROUP_FACTS,
  KUBELET_SUBRESOURCES,
  SHORT_NAMES,
  subresourceFact,
  WORKLOAD_SCALE,
} from './resourceFacts.ts'

/** Models that requests and answers use without being a resource, with the group that names them. */
const EXTRA_ROOTS: readonly RootModel[] = [
  ...['V1APIGroup', 'V1APIGroupList', 'V1APIResourceList', 'V1APIVersions', 'V1Condition'],
  ...['V1DeleteOptions', 'V1Status', 'V1WatchEvent', VERSION_MODEL],
].map(model => ({ model, group: 'meta' }))

/** Both files of `openapi/generated/`, from the client package whose compiled code is in `gen`. */
export function derive(gen: string): { catalog: CatalogFile; descriptions: DescriptionsFile } {
  const operations = GROUP_FACTS.flatMap(({ versions }) =>
    Object.values(versions).flatMap(apiClass => readOperations(join(gen, 'apis'), apiClass)),
  )
  const models = new Models(join(gen, 'models'))
  const referencesOf = (model: string): string[] => modelsIn(models.get(model), name => models.has(name))
  const names = nameDefinitions([...operations.flatMap(rootsOf), ...EXTRA_ROOTS], referencesOf)
  const reached: Model[] = [...names.keys()].map(name => models.get(name))
  const { definitions, descriptions } = buildSchemas(reached, names)
  const own = readOwnGroups(join(import.meta.dirname, 'groups'))
  return {
    catalog: {
      release: releaseOf(gen),
      definitions: { ...definitions, ...own.definitions },
      resources: [...operations.map(resource => catalogResource(resource, names)), ...own.resources],
    },
    descriptions,
  }
}

function rootsOf(resource: ResourceOperations): RootModel[] {
  const { group } = resource
  return [
    { model: resource.model, group },
    ...(resource.listModel === undefined ? [] : [{ model: resource.listModel, group }]),
    ...resource.subresources
      .filter(({ name, model }) => model !== undefined && model !== resource.model && isServed(name))
      .map(({ name, model }) => ({
        model: model!,
        group: subresourceFact(resource.resource, name)!.group,
      })),
  ]
}

function catalogResource(resource: ResourceOperations, names: ReadonlyMap<string, string>): CatalogResource {
  const { group, version } = resource
  const id = group === '' ? resource.resource : `${resource.resource}.${group}`
  const { kind } = splitModelName(resource.model)
  const subresources = resource.subresources.map(({ name }) => name).filter(isServed)
  return {
    group,
    version,
    resource: resource.resource,
    singular: kind.toLowerCase(),
    kind,
    listKind: resource.listModel === undefined ? `${kind}List` : splitModelName(resource.listModel).kind,
    shortNames: [...(SHORT_NAMES[id] ?? [])],
    categories: Object.keys(CATEGORIES).filter(category => CATEGORIES[category]!.includes(id)),
    namespaced: resource.namespaced,
    verbs: resource.verbs,
    storageVersion: Object.keys(GROUP_FACTS.find(fact => fact.group === group)!.versions)[0]!,
    subresources,
    ...(subresources.includes('scale') && { scale: WORKLOAD_SCALE }),
    ...(resource.deletedModel === resource.model && { returnsDeleted: true }),
    definition: names.get(resource.model)!,
    ...(resource.listModel !== undefined && { listDefinition: names.get(resource.listModel)! }),
    columns: [],
  }
}

function isServed(subresource: string): boolean {
  return !KUBELET_SUBRESOURCES.includes(subresource)
}

/** The release that the generated code says it is of. */
function releaseOf(gen: string): string {
  const code = readFileSync(join(gen, 'models', 'V1Pod.js'), 'utf8')
  const release = /OpenAPI spec version: release-(\d+\.\d+)/.exec(code)?.[1]
  if (release === undefined) throw new Error('cannot tell of which Kubernetes release @kubernetes/client-node is')
  return release
}

/** Written beside and renamed, so a server that starts meanwhile never reads half a file. */
function writeJson(path: string, content: unknown): void {
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, JSON.stringify(content))
  renameSync(draft, path)
}

if (import.meta.main) {
  const client = createRequire(import.meta.url).resolve('@kubernetes/client-node')
  const { catalog, descriptions } = derive(join(dirname(client), 'gen'))
  const folder = join(import.meta.dirname, 'generated')
  mkdirSync(folder, { recursive: true })
  writeJson(join(folder, 'catalog.json'), catalog)
  writeJson(join(folder, 'descriptions.json'), descriptions)
  const counts = `${catalog.resources.length} resources, ${Object.keys(catalog.definitions).length} definitions`
  console.log(`openapi: Kubernetes ${catalog.release}, ${counts}`)
}
