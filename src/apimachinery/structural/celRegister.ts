/** Adding functions to a CEL environment. */
import type { Environment } from '@marcbachmann/cel-js'

/** By signature, such as `string.find(string): string`. Handlers are synchronous and get the receiver first. */
export type Functions = Record<string, (...args: never[]) => unknown>

export function registerAll(environment: Environment, functions: Functions): void {
  for (const [signature, handler] of Object.entries(functions)) {
    environment.registerFunction(signature, handler as (...args: unknown[]) => unknown, { async: false } as object)
  }
}

/** Functions that are called behind a name, such as `sets.contains(…)`. Signatures start behind the dot. */
export function registerNamespace(environment: Environment, name: string, functions: Functions): void {
  const type = `kubernetes.${name}.Namespace`
  class Namespace {}
  environment.registerType(type, Namespace)
  environment.registerConstant(name, type, new Namespace())
  registerAll(
    environment,
    Object.fromEntries(
      Object.entries(functions).map(([signature, handler]) => [
        `${type}.${signature}`,
        ((_: unknown, ...args: unknown[]) => (handler as (...args: unknown[]) => unknown)(...args)) as never,
      ]),
    ),
  )
}
