// Resolves packages of @turnkey in this folder. See https://nodejs.org/api/module.html#customization-hooks.

const parentURL = new URL("./package.json", import.meta.url).href;

export function resolve(specifier, context, next) {
  const isInPackage = context.parentURL?.includes("/node_modules/");
  return next(specifier, specifier.startsWith("@turnkey/") && !isInPackage ? { ...context, parentURL } : context);
}
