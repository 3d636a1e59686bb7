/** Objects of a space for an assistant, as YAML: what `kubectl get -o yaml` shows to the same user, without values of Secrets. */
import { isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import { LAST_APPLIED_ANNOTATION } from '../../../apimachinery/resources.ts'
import { type AnswerOptions, withSpace } from '../../kubestellar/answers/answerSession.ts'
import { nameOfObject, resolveKind } from '../../kubestellar/answers/objectArgument.ts'
import { printDocument, shown } from '../../shell/output.ts'
import type { Terminal } from '../../shell/terminal.ts'

export interface GetArguments {
  readonly kind?: string
  readonly name?: string
  readonly allNamespaces?: boolean
  readonly labelSelector?: string
  readonly limit?: number
}

const SOME = 20
const HIDDEN = '(hidden)'

export async function getObjects(
  options: AnswerOptions,
  { kind = '', name, allNamespaces = false, labelSelector, limit = SOME }: GetArguments,
  terminal: Terminal,
): Promise<void> {
  await withSpace(options, terminal, async ({ space, namespace, path }) => {
    const resource = resolveKind(kind, await space.discover())
    const scope = resource.namespaced && !(allNamespaces && name === undefined) ? { namespace } : {}
    if (name !== undefined) {
      const object = await space.get(resource, { name, ...scope })
      return await printDocument(withoutSecrets(object), 'yaml', terminal)
    }
    const page = await space.list(resource, { limit, ...scope, ...(labelSelector !== undefined && { labelSelector }) })
    if (page.items.length === 0)
      return terminal.out(`there is no ${nameOfObject(resource, scope.namespace ?? '', '*')} in space ${path}`)
    // by lists, items come without them
    const { kind: itemKind } = resource
    const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
    for (const item of page.items)
      await printDocument(withoutSecrets({ ...item, apiVersion, kind: itemKind }), 'yaml', terminal)
    if (page.continue)
      terminal.out(`# there are more than these ${page.items.length}; name one, or give a labelSelector`)
  })
}

/** The annotation of `kubectl apply` holds a Secret's values, too. */
function withoutSecrets(object: KubeObject): KubeObject {
  const { metadata, ...rest } = shown(object)
  const { [LAST_APPLIED_ANNOTATION]: _, ...annotations } = metadata.annotations ?? {}
  const isSecret = object.kind === 'Secret'
  const kept = {
    ...metadata,
    ...(metadata.annotations && { annotations: isSecret ? hidden(annotations) : annotations }),
  }
  if (!isSecret) return { ...rest, metadata: kept }
  const { apiVersion, kind, type, immutable, data, stringData } = rest
  return {
    apiVersion,
    kind,
    metadata: kept,
    ...(type !== undefined && { type }),
    ...(immutable !== undefined && { immutable }),
    ...(isRecord(data) && { data: hidden(data) }),
    ...(isRecord(stringData) && { stringData: hidden(stringData) }),
  }
}

function hidden(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.keys(values).map(key => [key, HIDDEN]))
}
