declare module "virtual:catalogue/*" {
  const messages: Record<string, string>;
  export default messages;
}
