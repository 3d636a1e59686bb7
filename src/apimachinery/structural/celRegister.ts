/** Adding functions to a CEL environment. */
import type { Environment } from '@marcbachmann/cel-js'
import type { Comparable } from './celEquality.ts'

/** By signature, such as `string.find(string): string`. Handlers are synchronous and get the receiver first. */
export type Functions = Record<string, (...args: never[]) => unknown>

export function registerAll(environment: Environment, functions: Functions): void {
  for (const [signature, handler] of Object.entries(functions)) {
    environment.registerFunction(signature, handler as (...args: unknown[]) => unknown, { async: false } as object)
  }
}

/** A type of Kubernetes' own. As every opaque type of the language, it compares with itself and with null. */
export function registerOpaque(
  environment: Environment,
  name: string,
  type: new (...args: never[]) => Comparable,
): void {
  environment.registerType(name, type as never)
  environment.registerOperator(`${name} == ${name}`, (a: Comparable, b: Comparable) => a.equals(b))
  registerNullable(environment, name)
}

/** A type whose values are never null and that compares with null all the same. */
export function registerNullable(environment: Environment, name: string): void {
  environment.registerOperator(`${name} == null`, () => false)
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
