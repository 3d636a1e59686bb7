/** Paths of a document, as far as the dialects of OpenAPI write them alike. */
import { modelName, type TypeNames } from './modelName.ts'
import type { Model, Operation, Parameter } from './operation.ts'
import { pathParameters } from './parameters.ts'
import type { SchemaDocument } from './schemaDocument.ts'
import type { DefinitionWriter } from './writtenDefinitions.ts'

export type Describe = (model: Model) => SchemaDocument

/** How a dialect writes them. */
interface PathDialect {
  writer: DefinitionWriter
  /** Names of the resource type; absent for operations that are about none. */
  names?: TypeNames | undefined
  operation(operation: Operation, schemaOf: Describe): SchemaDocument
  parameter(parameter: Parameter): SchemaDocument
}

/** Adds operations to the paths of a document. */
export function pathsOf(
  operations: Iterable<Operation>,
  paths: Record<string, SchemaDocument>,
  { writer, names, operation: write, parameter }: PathDialect,
): void {
  const schemaOf: Describe = model =>
    model === 'text' ? { type: 'string' } : writer.reference(modelName(model, names))
  for (const operation of operations) {
    const item = paths[operation.path] ?? itemOf(operation, parameter)
    paths[operation.path] = item
    const { action, kind, tag, description, id } = operation
    item[operation.method] = {
      tags: [tag],
      description,
      operationId: id,
      ...write(operation, schemaOf),
      ...(action && { 'x-kubernetes-action': action }),
      ...(kind && {
        'x-kubernetes-group-version-kind': { group: kind.group, kind: kind.kind, version: kind.version },
      }),
    }
  }
}

function itemOf(operation: Operation, parameter: PathDialect['parameter']): SchemaDocument {
  const parameters = pathParameters(operation).map(parameter)
  return parameters.length > 0 ? { parameters } : {}
}
