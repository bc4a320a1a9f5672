"""The operations of the API as a person reads them, from their OpenAPI description."""

from typing import Any


def describe_routes(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Method, path, description and parameters of each operation."""
    return [
        {
            "method": method.upper(),
            "path": path,
            "description": own.get("description", own.get("summary", "")),
            "parameters": [_parameter(schema, given) for given in own.get("parameters", ())] + _body(schema, own),
        }
        for path, operations in schema["paths"].items()
        for method, own in operations.items()
    ]


def _parameter(schema: dict[str, Any], given: dict[str, Any]) -> dict[str, str]:
    return {"name": given["name"], "kind": _kind(schema, given["schema"]), "description": given.get("description", "")}


def _body(schema: dict[str, Any], operation: dict[str, Any]) -> list[dict[str, str]]:
    """The fields of a JSON body, or its kind."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return []
    resolved = _resolved(schema, content["schema"])
    if "properties" not in resolved:
        return [{"name": "body", "kind": _kind(schema, resolved), "description": ""}]
    return [
        {"name": name, "kind": _kind(schema, own), "description": own.get("description", "")}
        for name, own in resolved["properties"].items()
    ]


def _kind(schema: dict[str, Any], given: dict[str, Any]) -> str:
    own = _resolved(schema, given)
    if "anyOf" in own:
        kinds = (_kind(schema, one) for one in own["anyOf"])
        return " or ".join(kind for kind in kinds if kind != "null")
    if "enum" in own:
        return ", ".join(map(str, own["enum"]))
    if own.get("type") == "array":
        return f"list of {_kind(schema, own['items'])}"
    return str(own.get("title", "object") if own.get("type") == "object" else own.get("type", "any"))


def _resolved(schema: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in given:
        return given
    found: dict[str, Any] = schema["components"]["schemas"][given["$ref"].rpartition("/")[2]]
    return found
