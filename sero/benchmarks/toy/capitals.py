"""Capitals of countries: the facts that are asked, and the cities an answer may be mistaken for.

Countries are left out whose capital is disputed, shared, moving or recently renamed, or can be
read off the country's own name; and France, which the role cards use as an example.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from sero.benchmarks.normalise import name_key

_FACTS = """
Afghanistan: Kabul
Albania: Tirana | Tiranë
Algeria: Algiers
Angola: Luanda
Argentina: Buenos Aires
Armenia: Yerevan
Australia: Canberra
Austria: Vienna | Wien
Azerbaijan: Baku
Bahrain: Manama
Bangladesh: Dhaka | Dacca
Barbados: Bridgetown
Belarus: Minsk
Belgium: Brussels
Belize: Belmopan
Bhutan: Thimphu | Thimbu
Bosnia and Herzegovina: Sarajevo
Botswana: Gaborone
Brazil: Brasília
Brunei: Bandar Seri Begawan
Bulgaria: Sofia
Burkina Faso: Ouagadougou
Cambodia: Phnom Penh
Cameroon: Yaoundé
Canada: Ottawa
Cape Verde: Praia
Chad: N'Djamena
Chile: Santiago | Santiago de Chile
China: Beijing | Peking
Colombia: Bogotá
Costa Rica: San José
Croatia: Zagreb
Cuba: Havana | La Habana
Cyprus: Nicosia
Denmark: Copenhagen | København | Kobenhavn
Dominica: Roseau
Ecuador: Quito
Egypt: Cairo
El Salvador: San Salvador
Eritrea: Asmara
Estonia: Tallinn
Ethiopia: Addis Ababa
Fiji: Suva
Finland: Helsinki
Gabon: Libreville
Germany: Berlin
Ghana: Accra
Greece: Athens
Grenada: St. George's | Saint George's
Guinea: Conakry
Guyana: Georgetown
Haiti: Port-au-Prince
Honduras: Tegucigalpa
Hungary: Budapest
Iceland: Reykjavik | Reykjavík
India: New Delhi
Iran: Tehran | Teheran
Iraq: Baghdad
Ireland: Dublin
Italy: Rome | Roma
Jamaica: Kingston
Japan: Tokyo
Jordan: Amman
Kenya: Nairobi
Kyrgyzstan: Bishkek
Laos: Vientiane
Latvia: Riga
Lebanon: Beirut
Lesotho: Maseru
Liberia: Monrovia
Libya: Tripoli
Liechtenstein: Vaduz
Lithuania: Vilnius
Madagascar: Antananarivo
Malawi: Lilongwe
Mali: Bamako
Malta: Valletta
Mauritania: Nouakchott
Mauritius: Port Louis
Moldova: Chisinau | Chișinău | Kishinev
Mongolia: Ulaanbaatar | Ulan Bator
Montenegro: Podgorica
Morocco: Rabat
Mozambique: Maputo
Namibia: Windhoek
Nepal: Kathmandu | Katmandu
New Zealand: Wellington
Nicaragua: Managua
Niger: Niamey
Nigeria: Abuja
North Korea: Pyongyang
North Macedonia: Skopje
Norway: Oslo
Oman: Muscat
Pakistan: Islamabad
Papua New Guinea: Port Moresby
Paraguay: Asunción
Peru: Lima
Poland: Warsaw | Warszawa
Portugal: Lisbon | Lisboa
Qatar: Doha
Romania: Bucharest
Russia: Moscow
Rwanda: Kigali
Saint Lucia: Castries
Samoa: Apia
Saudi Arabia: Riyadh
Senegal: Dakar
Serbia: Belgrade
Sierra Leone: Freetown
Slovakia: Bratislava
Slovenia: Ljubljana
Somalia: Mogadishu
South Korea: Seoul
South Sudan: Juba
Spain: Madrid
Sudan: Khartoum
Suriname: Paramaribo
Sweden: Stockholm
Syria: Damascus
Tajikistan: Dushanbe
Thailand: Bangkok
the Bahamas: Nassau
the Central African Republic: Bangui
the Czech Republic: Prague | Praha
the Democratic Republic of the Congo: Kinshasa
the Dominican Republic: Santo Domingo
the Gambia: Banjul
the Netherlands: Amsterdam
the Philippines: Manila
the Solomon Islands: Honiara
the United Arab Emirates: Abu Dhabi
the United Kingdom: London
the United States: Washington, D.C. | Washington DC | Washington
Togo: Lomé
Tonga: Nuku'alofa
Trinidad and Tobago: Port of Spain
Tunisia: Tunis
Turkey: Ankara
Turkmenistan: Ashgabat
Uganda: Kampala
Ukraine: Kyiv | Kiev
Uruguay: Montevideo
Uzbekistan: Tashkent
Vanuatu: Port Vila
Venezuela: Caracas
Vietnam: Hanoi | Ha Noi
Zambia: Lusaka
Zimbabwe: Harare
"""

_OTHER_CITIES = """
Paris | Bern | Berne | Luxembourg | Monaco | San Marino | Vatican City | Tbilisi
Pristina | Andorra la Vella | Jerusalem | Tel Aviv | Ramallah | Astana | Nur-Sultan | Almaty
Jakarta | Nusantara | Kuala Lumpur | Putrajaya | Singapore | Taipei | Naypyidaw | Yangon | Colombo
Sri Jayawardenepura Kotte | Sanaa | Aden | Kuwait City | Djibouti | Dodoma | Dar es Salaam
Zanzibar | Yamoussoukro | Abidjan | Porto-Novo | Cotonou | Mbabane | Lobamba | Gitega | Bujumbura
Malabo | Bata | Bissau | Brazzaville | Pretoria | Cape Town | Johannesburg | Durban | Bloemfontein
La Paz | Sucre | Santa Cruz | Mexico City | Guatemala City | Panama City | Guadalajara | Monterrey
Sydney | Melbourne | Brisbane | Perth | Auckland | Christchurch | Toronto | Montreal | Vancouver
Quebec | Calgary | New York | New York City | Los Angeles | Chicago | Philadelphia | Boston
São Paulo | Rio de Janeiro | Córdoba | Rosario | Valparaíso | Medellín | Cali | Cartagena
Guayaquil | Cuenca | Maracaibo | Santiago de Cuba | Santiago de los Caballeros | Istanbul | Izmir
Constantinople | Dubai | Sharjah | Jeddah | Mecca | Medina | Mosul | Basra | Isfahan | Shiraz
Aleppo | Karachi | Lahore | Mumbai | Bombay | Delhi | Kolkata | Calcutta | Chennai | Bangalore
Shanghai | Hong Kong | Guangzhou | Nanjing | Osaka | Kyoto | Busan | Ho Chi Minh City | Saigon
Chiang Mai | Cebu | Davao | Quezon City | Chittagong | Kandahar | Casablanca | Marrakesh | Marrakech
Fez | Oran | Benghazi | Alexandria | Giza | Lagos | Kano | Ibadan | Kumasi | Mombasa | Entebbe
Bulawayo | Blantyre | Zomba | Livingstone | Ndola | Walvis Bay | Beira | Timbuktu | Lubumbashi
Douala | Port Sudan | Omdurman | Zurich | Geneva | Basel | Salzburg | Graz | Munich | Hamburg
Frankfurt | Bonn | Cologne | The Hague | Rotterdam | Antwerp | Bruges | Barcelona | Seville
Valencia | Porto | Milan | Naples | Venice | Florence | Turin | Marseille | Lyon | Manchester
Birmingham | Liverpool | Edinburgh | Glasgow | Cardiff | Belfast | Galway | Gothenburg
Malmö | Bergen | Trondheim | Aarhus | Turku | Tampere | Espoo | Tartu | Kaunas | Kraków | Gdańsk
Wrocław | Brno | Ostrava | Košice | Maribor | Dubrovnik | Novi Sad | Mostar | Thessaloniki
Piraeus | Varna | Plovdiv | Cluj | Timișoara | Debrecen | Odesa | Odessa | Kharkiv | Lviv | Gomel
St Petersburg | Saint Petersburg | Leningrad | Limassol | Samarkand | Bukhara | Osh | Gyumri
Montego Bay | Belize City | Freeport | San Pedro Sula | León | Ciudad del Este
"""
"""Former capitals, largest cities and those of countries that are not asked."""

_TOKEN = re.compile(r"[^\W_]+")
_APOSTROPHES = {ord("'"): None, 0x02BB: None}  # and the okina of Nuku'alofa


@cache
def facts() -> Mapping[str, str]:
    """Country, as a question names it, to its capital."""
    rows = (line.split(": ") for line in _FACTS.strip().splitlines())
    return {country: spellings.split(" | ")[0] for country, spellings in rows}


def cities_named(text: str) -> tuple[str, ...]:
    """The known cities in a text, in order, each once and by one name whatever its spelling."""
    found: dict[str, None] = {}
    words = tokens(text)
    i = 0
    while i < len(words):
        for spelling, city in _spellings().get(words[i], ()):
            if words[i : i + len(spelling)] == spelling:
                found[city] = None
                i += len(spelling) - 1
                break
        i += 1
    return tuple(found)


def tokens(text: str) -> list[str]:
    """The words of a text for comparison: no case, accents or apostrophes."""
    plain = text if text.isascii() else name_key(text)
    return _TOKEN.findall(plain.casefold().translate(_APOSTROPHES))


@cache
def _spellings() -> Mapping[str, list[tuple[list[str], str]]]:
    """First word to the spellings that begin with it, longest first, and the cities they mean."""
    rows = [line.partition(": ")[2].split(" | ") for line in _FACTS.strip().splitlines()]
    rows += [[name] for name in _OTHER_CITIES.replace("\n", " | ").strip(" |").split(" | ")]
    known: dict[str, list[tuple[list[str], str]]] = {}
    for names in rows:
        for name in names:
            words = tokens(name)
            known.setdefault(words[0], []).append((words, names[0]))
    for spellings in known.values():
        spellings.sort(key=lambda pair: -len(pair[0]))
    return known
